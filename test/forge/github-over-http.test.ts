import { httpTransport } from "../../src/adapters/forge/github/http-transport.ts";
import { githubContract, token } from "./github-contract.ts";

githubContract({
  name: "HTTP",
  isBrief: false,
  open: (url, timeout) => httpTransport({ apiUrl: url, token, timeout }),
});
