import { afterAll } from "vitest";
import { person } from "./classic/person.ts";
import { reviews } from "./classic/review.ts";
import { working } from "./classic/working.ts";
import { nextInLine } from "./next-in-line.ts";
import { everyMoveWasSeen, openScenes } from "./scenes.ts";

const scenes = await openScenes("classic");
afterAll(scenes.close);

working(scenes);
reviews(scenes);
person(scenes);
nextInLine(scenes);
everyMoveWasSeen(scenes);
