import { describe } from "vitest";
import { branchContract } from "./contract/branches.ts";
import { commitAllContract } from "./contract/commit-all.ts";
import { copyContract } from "./contract/copy-files.ts";
import { killContract } from "./contract/kills.ts";
import { lookContract } from "./contract/look.ts";
import { oddRepositoryContract } from "./contract/odd-repositories.ts";
import { parkContract } from "./contract/park.ts";
import { prepareContract } from "./contract/prepare.ts";
import { recycleContract } from "./contract/recycle.ts";
import { removeContract } from "./contract/remove.ts";
import { taskFileContract } from "./contract/task-file.ts";

describe("clone", () => {
  prepareContract("clone");
  recycleContract("clone");
  parkContract("clone");
  lookContract("clone");
  branchContract("clone");
  commitAllContract("clone");
  removeContract("clone");
  copyContract("clone");
  taskFileContract("clone");
  oddRepositoryContract("clone");
  killContract("clone");
});
