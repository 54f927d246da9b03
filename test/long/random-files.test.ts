import { testRandomFiles } from "../language/random-files.ts";

// The same as at the end of test/language/loading.test.ts, with more of everything.

testRandomFiles(40);
