/** Everything about an agent's JSON answer: what it must look like, where it is in the prose, and what is wrong with it. */
export { answerProblems } from "./answer-problems.ts";
export type { AnswerScalar, AnswerSchema } from "./answer-schema.ts";
export { readAnswer } from "./read-answer.ts";
export { fieldValues, sampleAnswers } from "./sample-answers.ts";
export { schemaProblems } from "./schema-problems.ts";
