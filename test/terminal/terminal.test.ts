import { terminalContract } from "./contract.ts";
import { createScriptedStage } from "./scripted-stage.ts";
import { createTmuxStage } from "./tmux-stage.ts";

terminalContract("the scripted terminal", createScriptedStage);
terminalContract("tmux", createTmuxStage);
