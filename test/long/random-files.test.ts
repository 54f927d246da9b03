import { testRandomFiles } from "../language/random-files.ts";

// Like the end of test/language/loading.test.ts, with larger numbers.

testRandomFiles(40);
