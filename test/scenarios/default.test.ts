import { afterAll } from "vitest";
import { person } from "./default/person.ts";
import { reviews } from "./default/review.ts";
import { starting } from "./default/starting.ts";
import { working } from "./default/working.ts";
import { nextInLine } from "./next-in-line.ts";
import { everyMoveWasSeen, openScenes } from "./scenes.ts";

const scenes = await openScenes("default");
afterAll(scenes.close);

starting(scenes);
working(scenes);
reviews(scenes);
await person(scenes);
nextInLine(scenes);
everyMoveWasSeen(scenes);
