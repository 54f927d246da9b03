import type { Severity } from "../src/engine/findings.ts";

/** A defect, and how different reviews report it. Those of one file are easily mistaken for each other. */
export interface Defect {
  readonly file: string;
  readonly line: number;
  readonly severity: Severity;
  readonly titles: readonly string[];
  readonly evidence: readonly string[];
}

function defect(
  file: string,
  line: number,
  severity: Severity,
  titles: readonly string[],
  evidence: readonly string[],
): Defect {
  return { file, line, severity, titles, evidence };
}

export const defects: readonly Defect[] = [
  defect(
    "src/login.ts",
    14,
    "critical",
    [
      "SQL injection in the user lookup",
      "User lookup allows SQL injection",
      "The user lookup is open to SQL-injection.",
      "sql injection: user lookup",
    ],
    [
      "The name from the request is concatenated into the query in findUser.",
      "findUser concatenates the request's name into its query.",
      "In findUser the query is made by concatenating the name of the request.",
    ],
  ),
  defect(
    "src/login.ts",
    31,
    "high",
    [
      "Password is logged in plain text",
      "The password is logged in clear text",
      "Plain text password is being logged",
      "Logs the password in plain text",
    ],
    [
      "logger.info receives the whole request body, which contains the password.",
      "The whole request body with the password goes to logger.info.",
      "The body of the request, password included, is given to logger.info.",
    ],
  ),
  defect(
    "src/login.ts",
    58,
    "medium",
    [
      "Missing rate limit for failed logins",
      "No rate limit on failed logins",
      "Failed logins have no rate limiting",
      "Failed logins are not rate limited",
    ],
    [
      "A client can try passwords as fast as the server answers.",
      "Passwords can be tried as fast as the server answers a client.",
      "Nothing slows a client down that tries passwords.",
    ],
  ),
  defect(
    "src/login.ts",
    59,
    "medium",
    [
      "Missing test for failed logins",
      "Failed logins are not tested",
      "No tests for failed logins",
      "There is no test of a failed login",
    ],
    [
      "login.test.ts only covers the good case.",
      "Only the good case is covered by login.test.ts.",
      "login.test.ts covers nothing but the good case.",
    ],
  ),
  defect(
    "src/login.ts",
    77,
    "low",
    [
      "Session timeout is too long",
      "The session's timeout is too long",
      "Timeout of sessions too long",
      "Too long a session timeout",
    ],
    ["Sessions live for thirty days.", "A session lives thirty days.", "Thirty days is how long sessions live."],
  ),
  defect(
    "src/login.ts",
    95,
    "low",
    [
      "Session cookie is too short",
      "The session's cookie is too short",
      "Cookie of the session too short",
      "Too short a session cookie",
    ],
    [
      "The token has only 32 bits of entropy.",
      "There are only 32 bits of entropy in the token.",
      "Entropy of the token: only 32 bits.",
    ],
  ),
  defect(
    "src/cache.ts",
    20,
    "high",
    [
      "Cache is never invalidated after a write",
      "Writes never invalidate the cache",
      "The cache isn't invalidated after writes",
      "No invalidation of the cache after a write",
    ],
    [
      "put() stores the row but get() keeps returning the old entry.",
      "After put() stores a row, get() keeps returning the old entry.",
      "get() keeps returning the old entry once put() stored the row.",
    ],
  ),
  defect(
    "src/cache.ts",
    44,
    "medium",
    [
      "Cache grows without bound",
      "The cache grows without a bound",
      "Unbounded growth of the cache",
      "Cache growth has no bound",
    ],
    [
      "Entries are added for each key and nothing removes them.",
      "Each key adds an entry, and nothing removes entries.",
      "Nothing removes the entries that are added for each key.",
    ],
  ),
  defect(
    "src/cache.ts",
    61,
    "medium",
    [
      "Race between `get` and `evict`",
      "`get` and `evict` race with each other",
      "`evict` races with `get`",
      "Race condition between `get()` and `evict()`",
    ],
    [
      "An entry can be evicted between the check and the read.",
      "Between check and read the entry can be evicted.",
      "The entry may be evicted after the check, before the read.",
    ],
  ),
  defect(
    "src/cache.ts",
    63,
    "medium",
    [
      "Race between `get` and `clear`",
      "`get` and `clear` race with each other",
      "`clear` races with `get`",
      "Race condition between `get()` and `clear()`",
    ],
    [
      "A clear in the middle of a read leaves a half-filled result.",
      "The result is half filled if a clear comes in the middle of a read.",
      "Clearing in the middle of a read gives a half-filled result.",
    ],
  ),
  defect(
    "src/cache.ts",
    80,
    "info",
    [
      "Comment about the cache size is outdated",
      "Outdated comment about cache size",
      "The comment on the cache's size is outdated",
      "Cache size comment is out of date",
    ],
    [
      "It says 100 entries, the constant is 1000.",
      "The constant is 1000, but it says 100 entries.",
      "100 entries are said, 1000 is the constant.",
    ],
  ),
  defect(
    "src/parse.ts",
    12,
    "high",
    [
      "parseDate throws on an empty string",
      "An empty string makes parseDate throw",
      "parseDate crashes for empty strings",
      "Empty string: parseDate throws an exception",
    ],
    [
      "split returns one element, and the second is read without a check.",
      "The second element is read without a check although split returns one.",
      "Without a check the second element is read, but split returns only one.",
    ],
  ),
  defect(
    "src/parse.ts",
    40,
    "high",
    [
      "parseTime throws on an empty string",
      "An empty string makes parseTime throw",
      "parseTime crashes for empty strings",
      "Empty string: parseTime throws an exception",
    ],
    [
      "The regular expression does not match and the result is null.",
      "The result is null because the regular expression does not match.",
      "As the regular expression doesn't match, its result is null.",
    ],
  ),
  defect(
    "src/parse.ts",
    66,
    "medium",
    [
      "Errors of the reader are swallowed",
      "The reader's errors are swallowed",
      "Swallowed errors of the reader",
      "Reader errors are ignored",
    ],
    [
      "The catch block is empty, so a broken file looks like an empty one.",
      "A broken file looks like an empty one because the catch block is empty.",
      "With its empty catch block a broken file looks empty.",
    ],
  ),
  defect(
    "src/parse.ts",
    90,
    "medium",
    [
      "Time zone is ignored when parsing",
      "Parsing ignores the time zone",
      "The time zone is ignored in parsing",
      "Ignores time zones while parsing",
    ],
    [
      "2024-01-01T00:00+02:00 and 2024-01-01T00:00Z give the same value.",
      "The same value results from 2024-01-01T00:00+02:00 and 2024-01-01T00:00Z.",
      "2024-01-01T00:00Z and 2024-01-01T00:00+02:00 have the same value.",
    ],
  ),
  defect(
    "src/parse.ts",
    110,
    "low",
    ["Unused import of path", "The import of path is unused", "path import is unused", "Unused: import of path"],
    ["Nothing in the file uses it.", "It is used by nothing in the file.", "The file uses it nowhere."],
  ),
  defect(
    "src/queue.ts",
    25,
    "critical",
    [
      "Job is lost when the worker is killed",
      "A killed worker loses its job",
      "Jobs are lost if the worker is killed",
      "When the worker gets killed, the job is lost",
    ],
    [
      "The row is deleted before the job has run.",
      "Before the job has run, its row is deleted.",
      "Deleting the row happens before the job runs.",
    ],
  ),
  defect(
    "src/queue.ts",
    27,
    "high",
    [
      "Job runs twice when the worker is slow",
      "A slow worker runs its job twice",
      "Jobs run twice if the worker is slow",
      "When the worker gets slow, the job runs twice",
    ],
    [
      "The lease ends after a minute and another worker takes the row.",
      "Another worker takes the row once the lease ends after a minute.",
      "After a minute the lease ends, and the row is taken by another worker.",
    ],
  ),
  defect(
    "src/queue.ts",
    52,
    "medium",
    [
      "Retry delay has no upper limit",
      "No upper limit for the retry delay",
      "The delay of retries lacks an upper limit",
      "Retry delay without an upper limit",
    ],
    ["It doubles each time, for ever.", "Each time it doubles, for ever.", "It is doubled each time for ever."],
  ),
  defect(
    "src/queue.ts",
    53,
    "medium",
    [
      "Retry count has no upper limit",
      "No upper limit for the retry count",
      "The count of retries lacks an upper limit",
      "Retry count without an upper limit",
    ],
    [
      "A job that always fails is started again for ever.",
      "For ever, a job that always fails is started again.",
      "Jobs that always fail are started again for ever.",
    ],
  ),
  defect(
    "docs/api.md",
    8,
    "low",
    [
      "Example uses the old endpoint",
      "The old endpoint is used in the example",
      "Old endpoint in the example",
      "The example still uses the old endpoint",
    ],
    [
      "It calls /v1/user, which was renamed to /v1/users.",
      "/v1/user, which it calls, was renamed to /v1/users.",
      "The call is to /v1/user, renamed to /v1/users.",
    ],
  ),
  defect(
    "docs/api.md",
    30,
    "low",
    [
      "Example lacks the token header",
      "The token header is missing in the example",
      "Missing token header in the example",
      "No token header in the example",
    ],
    ["As printed it gets a 401.", "It gets a 401 as printed.", "A 401 is what it gets as printed."],
  ),
  defect(
    "docs/api.md",
    55,
    "info",
    ["Typo in the heading", "The heading has a typo", "Heading: typo", "There is a typo in the heading"],
    ["It reads 'Autentication'.", "'Autentication' is what it reads.", "Reads 'Autentication'."],
  ),
  defect(
    "docs/api.md",
    71,
    "info",
    [
      "Link to the changelog is broken",
      "Broken link to the changelog",
      "The changelog link is broken",
      "The link to the change log is broken",
    ],
    ["CHANGES.md does not exist.", "There is no CHANGES.md.", "No file CHANGES.md exists."],
  ),
];
