export interface EventDescription {
  /** When it is written, as the end of a sentence that begins with its name. */
  readonly when: string;
  /** What its `data` can hold. */
  readonly data: Readonly<Record<string, string>>;
}

const word = "how it ended";
const reason = "why";
const role = "the role";
const run = "the run";
const target = "the branch that the work goes into";
const files = "the files that conflict or block the merge";
const number = "its number";
const url = "its address (empty where there is no forge)";
const message = "the message's id";
const to = "the run that it is addressed to";
const answer = "the answer";
const question = "the id of the question that it answers";
const via = "the chat that the answer came through, such as `telegram` (missing for the command line and the API)";
const projectName = "its name";
const pausedProject = "the project; missing for everything";
const who = "the person's name in that chat";

/** Every event of a task's history. Names and fields never change, because other programs read them. */
export const eventTypes = {
  "task.created": {
    when: "a task is created",
    data: {
      status: "the state it begins in",
      workflow: "its workflow's name",
      parent: "of a part: the task whose plan it belongs to",
      item: "of a part: the item of the plan",
      try: "of a part: 1, or 2 if it replaces a failed one",
      continues: "the ended task whose work it continues",
    },
  },
  "task.moved": {
    when: "it goes to another state",
    data: {
      from: "the state it leaves",
      to: "the state it enters",
      cause: "`asked`, `rule N`, `escalated` or another cause",
      evidence: "the sections that passed a gate: section, hash, role, run, commit of each",
      run: "the run that asked",
      reason: "why the task goes there, where the event before does not say it",
    },
  },
  "task.settled": { when: "all effects of its move are done", data: {} },
  "task.working": { when: "its state's own work begins", data: { actions: "the actions" } },
  "task.worked": { when: "its state's own work has ended", data: { word, reason } },
  "task.held": { when: "no rule covers what happened: it waits for a person", data: { word, reason } },
  "task.continued": {
    when: "a person ends a wait, or retries a held task; or what the task was held for works again",
    data: { held: "the word it was held after (empty where it was not held)" },
  },
  "task.attended": { when: "a person has attached, or has said something", data: { text: "what was said or done" } },
  "task.approved": {
    when: "a person approves the work",
    data: { commit: "the approved commit", status: "the state it was approved in" },
  },
  "task.answered": {
    when: "a person has answered the question that it asks by waiting in its state",
    data: { text: answer, question, via, who },
  },
  "task.commented": {
    when: "a person or an agent comments",
    data: { text: "the comment", run: "the run that commented" },
  },
  "task.migrated": {
    when: "it is put under another version of its workflow",
    data: { from: "the hash before", to: "the hash now", status: "the state it is in then" },
  },
  "task.edited": {
    when: "fields of the task, such as its summary, have changed",
    data: {
      changed: "the names of the fields",
      values: "the new model, preset and settings; null for a setting that was taken back",
      run: "the run that asked",
    },
  },
  "part.started": {
    when: "a part of a plan is given a slot by its parent, and may start",
    data: { item: "the item of the plan", try: "1, or 2 if it replaces a failed one", slot: "its slot, from 1" },
  },
  "workspace.mended": {
    when: "the broken HEAD of its workspace was set to its branch; what was in the folder is saved",
    data: { workspace: "its folder", branch: "its branch", commit: "the commit of the branch" },
  },
  "workspace.restored": {
    when: "a person has its deleted or broken workspace made again",
    data: { workspace: "its folder", commit: "the last commit that was saved, or empty; later ones cannot be known" },
  },
  "branch.moved": {
    when: "a branch of the user's was moved or deleted while its agent worked in a worktree of the repository",
    data: {
      branch: "the branch",
      before: "the commit it had, which Signalbox keeps",
      after: "the commit it has now (empty where it was deleted)",
      isKnown: "whether that was done in its workspace, or the new commit was made there",
      setAside: "the ref that keeps `after`, where the branch is that of a parent without a workspace and was restored",
    },
  },
  "document.unclaimed": {
    when: "a run has ended, and its file, which others could write, has sections that it did not hand in: they do not count",
    data: { role, run, sections: "the sections", reason: "why others could write the file" },
  },
  "document.changed": {
    when: "a person or an agent has changed the task file",
    data: { sections: "the changed sections", run: "the run that wrote them" },
  },
  "document.incomplete": {
    when: "it starts without sections that were to be handed down, or with a part of them: none of the tasks that it depends on has them, or the task file would be too large",
    data: { sections: "the missing sections", cut: "the sections of which only the beginning was handed down" },
  },
  "request.rejected": {
    when: "a request was refused",
    data: { request: "the request", reasons: "code, text and fix of each reason" },
  },
  "request.granted": {
    when: "a person's request that adds no other event was granted, such as a pause; without a task it concerns the home",
    data: {
      request: "the request's name, as in the API",
      project: "the project, if there is one",
      given: "the request's values, cut to a sensible length",
    },
  },
  "config.changed": {
    when: "your configuration has changed; it belongs to no task",
    data: { keys: "the settings that have changed" },
  },
  "project.added": {
    when: "a project was added; like every event of a project, it belongs to no task",
    data: { project: projectName, path: "the folder of its repository" },
  },
  "project.changed": {
    when: "settings of a project have changed",
    data: { project: projectName, keys: "the settings that have changed" },
  },
  "project.removed": { when: "a project was removed", data: { project: projectName } },
  "pause.began": {
    when: "a person has paused a project, or everything",
    data: { project: pausedProject, now: "whether the agents at work were ended too" },
  },
  "pause.ended": { when: "a person has ended such a pause", data: { project: pausedProject } },
  "limit.began": {
    when: "a provider accepts nothing from a harness, or is found to do so for longer",
    data: { harness: "the harness in which no run is started", until: "when the limit ends", reason },
  },
  "limit.ended": {
    when: "such a limit is found to be over, or a person has lifted it",
    data: { harness: "the harness" },
  },
  "effect.failed": {
    when: "an effect has failed, and is not retried",
    data: { action: "the action", reason },
  },
  "agent.started": {
    when: "a run is at work",
    data: {
      run,
      role,
      harness: "the harness",
      model: "the requested model",
      tier: "the tier that the model stands for (empty where a model was named)",
      agent: "the named agent that does it (empty where an anonymous one does)",
      insteadOf: "the tier or model that was wanted, where the named agent has another (otherwise empty)",
      asked: "when it asked for a seat",
      seated: "when it had one, and its named agent",
      session: "the harness's session",
      window: "the window's name (empty where there is no terminal)",
      resumed: "whether it resumes an earlier session",
      sandbox: "whether it runs in a sandbox",
    },
  },
  "agent.slept": { when: "an idle run's program was ended to make room; it resumes when it is needed", data: { run } },
  "agent.woken": { when: "the program of a sleeping run was started again, in its session", data: { run } },
  "agent.raised": { when: "a run needs a person", data: { run, reason } },
  "person.called": {
    when: "a person is called, because the task needs one",
    data: {
      reason: "the reason, as one word",
      text: "the problem",
      command: "the command that helps (empty where none does)",
      since: "when the need began",
      call: "the key of the call, which needs that are reported together share",
      tasks: "how many tasks the call is about",
    },
  },
  "agent.limited": {
    when: "a provider's rate limit is reached",
    data: { run, harness: "the harness in which no run is started", until: "when the limit ends", reason },
  },
  "agent.ended": {
    when: "a run has ended",
    data: { run: "the run (missing where the event only records the result)", word, reason },
  },
  "work.completed": {
    when: "a run has said that its work is complete, and has handed documents over",
    data: {
      ...{ run, outcome: "`done` or `revise`", summary: "what was done", reason },
      documents: "type, title, file, hash and bytes of each document",
    },
  },
  "stage.messaged": {
    when: "a run has sent a message to another state",
    data: {
      ...{ run, from: "the state that it was sent in", to: "the state that it is for, or `all`" },
      ...{ priority: "`low`, `normal` or `high`", text: "the message" },
      dropped: "how many older messages the task dropped for it, which were read or less important; missing for none",
    },
  },
  "agent.retried": {
    when: "a failed run is retried",
    data: { role, attempt: "the number of the attempt", delay: "seconds before it starts" },
  },
  "agent.respawned": { when: "a person starts a dead agent again", data: { role, prompt: "the prompt's name" } },
  "agent.resumed": { when: "a lost run resumes its session", data: { role, reason } },
  "agent.stepped": {
    when: "a step of a stepped run is over",
    data: { step: "its number", limit: "the limit, where this was the last step" },
  },
  "agent.reminded": {
    when: "an idle agent is told what is missing",
    data: { role, message: "the reminder" },
  },
  "dialogue.asked": {
    when: "an agent asks a person something",
    data: { message: "the question", confirm: "whether a yes ends the dialogue", question: "the question's id" },
  },
  "dialogue.answered": {
    when: "a person has answered",
    data: { text: answer, round: "the number of the round", confirmed: "whether it was a yes", question, via, who },
  },
  "panel.answered": {
    when: "a member of a panel, or its judge, has ended",
    data: { member: "the member (missing for the judge)", run, word, reason },
  },
  "finding.reviewed": {
    when: "a reviewer's findings were taken into the task's ledger",
    data: {
      run,
      round: "the number of the review",
      findings: "id, state, severity, file, line and title of each that is new or in another state",
      open: "how many are open or approved now",
      quiet: "how many reviews in a row have changed neither the branch nor the ledger",
    },
  },
  "finding.approved": {
    when: "a person wants findings fixed",
    data: { findings: "their ids", reason: "what the person said" },
  },
  "finding.added": {
    when: "a person has added a finding, which is approved with that",
    data: { findings: "id, severity, file, line and title" },
  },
  "finding.dismissed": {
    when: "a person decides that findings are not defects",
    data: { findings: "their ids", reason: "what the person said" },
  },
  "plan.edited": {
    when: "a person has changed its plan, before its children start",
    data: { items: "how many it has" },
  },
  "children.ended": { when: "all children of a fan-out have ended", data: { word, reason } },
  "message.sent": { when: "a message for a run is queued", data: { message, to, text: "the message" } },
  "message.delivered": {
    when: "a message has arrived",
    data: { message, to, evidence: "`seen`: the harness shows it. `typed`: it was typed, without a confirmation" },
  },
  "message.undelivered": {
    when: "a message cannot be delivered, and needs a person",
    data: { message, to, reason },
  },
  "protected.changed": {
    when: "its work is found to have changed something that decides about work, or no longer has",
    data: {
      base: "the commit that it is compared with",
      commit: "its work",
      changes: "the changes, in words for people",
      content: "a hash of the changed contents",
    },
  },
  "tests.ended": {
    when: "the engine's own tests of a task's work have run",
    data: {
      commit: "the commit that was tested",
      word: "`ok`, `tests` where they failed, or `untested` where no command was found",
    },
  },
  "protected.tested": {
    when: "the tests of such work have run both ways",
    data: {
      commit: "its work",
      base: "how they ended with the base's protected files: `ok`, `tests` or another word",
      work: "how they ended as the work has them",
    },
  },
  "protected.confirmed": {
    when: "a person who could see these changes has work with them merged",
    data: {
      commit: "its work",
      changes: "the changes, in words for people",
      content: "a hash of the changed contents",
    },
  },
  "merge.asked": { when: "its work enters the merge queue", data: { target, strategy: "`merge` or `ff`" } },
  "merge.waits": { when: "files or commits of the user block the merge", data: { target, reason, files } },
  "merge.landed": {
    when: "the branch contains its work",
    data: { target, commit: "its work", before: "where the branch was", after: "where it is now" },
  },
  "merge.failed": { when: "its work could not be merged", data: { target, word, reason, files } },
  "merge.undone": { when: "its merge was undone", data: { target, after: "where the branch is now" } },
  "merge.predicted": {
    when: "its work is found to conflict with another task's",
    data: { other: "the other task", files },
  },
  "pr.opened": {
    when: "its pull request was opened",
    data: { number, url, head: "its branch", base: "the branch it is for" },
  },
  "pr.commented": {
    when: "a comment on its pull request was posted; without a forge, only recorded",
    data: {
      number,
      url: "the comment's address (empty where there is no forge)",
      round: "the number of the review that it is about (0 for another text)",
      comment: "its key, which every repetition of it shares",
    },
  },
  "pr.merged": { when: "its pull request was merged", data: { number, url, commit: "the merge commit" } },
  "pr.closed": { when: "its pull request was closed without being merged", data: { number, url, commit: "empty" } },
  "pr.feedback": {
    when: "people or checks have reported something on its pull request",
    data: { number, url, text: "their report" },
  },
} as const satisfies Readonly<Record<string, EventDescription>>;

export type TaskEventType = keyof typeof eventTypes;
