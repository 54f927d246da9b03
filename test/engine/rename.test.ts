import { testRenaming } from "./rename-states.ts";

testRenaming(300);
