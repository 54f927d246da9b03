import { testRenaming } from "../engine/rename-states.ts";

testRenaming(10_000);
