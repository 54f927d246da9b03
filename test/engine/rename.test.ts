import { testRenaming } from "./rename-states.ts";

testRenaming(1_500);
