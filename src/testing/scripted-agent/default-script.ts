/**
 * What is played without a script. An agent in a session does the work of the built-in workflow `default`, and of others as
 * far as their statuses are the same. One that is asked turn by turn, as in `crew`, changes something, commits and answers.
 */
export const defaultScript = `
roles:
  worker:
    - when: { mode: session, status: planning }
      steps:
        - think: 1s
        - section:
            heading: "## Plan"
            text: |
              APPROACH: write down what was asked for, in one note.
              TOUCHING: notes/{id}.md
        - cli: [task, update, --status, working]
        - think: 1s
        - write: { file: "notes/{id}.md", text: "# {summary}\\n\\nWritten by the scripted agent.\\n" }
        - commit: "Note: {summary}"
        - section:
            heading: "## Handoff"
            text: |
              DONE: notes/{id}.md is written and committed.
              REMAINING: nothing.
        - cli: [task, update, --status, agent-review]
        - usage: { input: 1200, output: 300, cost: 0.01 }
        - say: The work is handed over for review.
    - when: { mode: session, status: working }
      steps:
        - think: 1s
        - append: { file: "notes/{id}.md", text: "\\nChanged in message {turn} of session {run}.\\n" }
        - commit: "Note: {summary}, once more"
        - section:
            heading: "## Handoff"
            text: |
              DONE: the note is changed as the review asked, in message {turn} of session {run}.
              REMAINING: nothing.
        - choose:
            - when: { prompt: task update --status reviewing }
              steps: [{ cli: [task, update, --status, reviewing] }]
            - steps: [{ cli: [task, update, --status, agent-review] }]
        - usage: { input: 800, output: 200, cost: 0.01 }
        - say: The points of the review are mended.
    - when: { mode: session, status: clarification }
      steps:
        - section: { heading: "## Questions", text: "1. What is to be done, in one sentence?" }
        - say: The questions stand in the task file.
  reviewer:
    - when: { mode: session, status: agent-review }
      steps:
        - think: 1s
        - run: [git, log, --oneline, -5]
        - section: { heading: "## Review", text: "Verdict: PASS\\n\\nThe note says what was asked for. This is review {run}." }
        - cli: [task, update, --status, reviewing]
        - usage: { input: 900, output: 100, cost: 0.01 }
        - say: The review is written.
  any:
    - when: { mode: turn, permissions: full }
      steps:
        - try:
            - append: { file: "notes/{id}.md", text: "Message {turn} of session {run} of the {role}.\\n" }
            - commit: "Note: {summary}"
        - usage: { input: 500, output: 100, cost: 0.01 }
        - say: Everything that was asked for is done.
        - marker
    - steps:
        - usage: { input: 500, output: 100, cost: 0.01 }
        - say: Everything that was asked for is done.
        - marker
`;
