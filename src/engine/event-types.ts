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
const files = "what conflicts, or is in the way";
const number = "its number";
const url = "its address (empty where there is no forge)";
const message = "the message's id";
const to = "the run that it is for";

/** Every event that can stand in history. Names and fields stay as they are: programs of other people read them. */
export const eventTypes = {
  "task.created": {
    when: "a task is created",
    data: { status: "the state it begins in", workflow: "its workflow's name" },
  },
  "task.moved": {
    when: "it goes to another state",
    data: {
      from: "the state it leaves",
      to: "the state it enters",
      cause: "`asked`, `rule N`, `escalated` or what else made it move",
      evidence: "the sections that passed a gate: section, hash, role, run, commit of each",
      run: "the run that asked",
    },
  },
  "task.settled": { when: "everything that belonged to entering its state is done", data: {} },
  "task.working": { when: "its state's own work begins", data: { actions: "what is carried out" } },
  "task.worked": { when: "its state's own work has ended", data: { word, reason } },
  "task.held": { when: "no rule covers what happened: it waits for a person", data: { word, reason } },
  "task.continued": {
    when: "a person ends a wait, or tries a held task again",
    data: { held: "the word it was held after (empty where it was not held)" },
  },
  "task.attended": { when: "a person has attached, or has said something", data: { text: "what was said or done" } },
  "task.approved": {
    when: "a person says yes to the work",
    data: { commit: "the commit it was said for", status: "the state it was said in" },
  },
  "task.commented": { when: "somebody comments", data: { text: "the comment", run: "the run that commented" } },
  "task.migrated": {
    when: "it is put under another version of its workflow",
    data: { from: "the hash before", to: "the hash now", status: "the state it is in then" },
  },
  "task.edited": {
    when: "what it is called or how it is made has changed",
    data: { changed: "the names of what has changed", run: "the run that asked" },
  },
  "workspace.restored": {
    when: "a person has its workspace made again, which somebody had deleted or broken",
    data: { workspace: "its folder" },
  },
  "document.unclaimed": {
    when: "a run that worked beside another role has ended, and its file says what it has not handed in: that does not count",
    data: { role, run, sections: "the sections" },
  },
  "document.changed": {
    when: "somebody has written into the task file",
    data: { sections: "the sections that are different", run: "the run that wrote them" },
  },
  "request.rejected": {
    when: "something was asked for and refused",
    data: { request: "what was asked for", reasons: "code, text and fix of each reason" },
  },
  "effect.failed": {
    when: "something that was owed could not be carried out, for good",
    data: { action: "what it was", reason },
  },
  "agent.started": {
    when: "a run is at work",
    data: {
      run,
      role,
      harness: "the harness",
      model: "the model that was asked for",
      session: "the harness's session",
      window: "the window's name (empty where there is no terminal)",
      resumed: "whether it goes on in an earlier session",
    },
  },
  "agent.slept": { when: "an idle run's program was ended to make room; it goes on when it is needed", data: { run } },
  "agent.woken": { when: "the program of a run that slept is there again, in its session", data: { run } },
  "agent.raised": { when: "a run needs a person", data: { run, reason } },
  "person.called": {
    when: "a person is called, because the task needs one",
    data: {
      reason: "what for, in a word",
      text: "what is the matter",
      command: "what the person can do (empty where nothing helps)",
      since: "since when",
      call: "the call's key: what is told together has the same",
      tasks: "how many tasks it is about",
    },
  },
  "agent.limited": {
    when: "a provider takes no more for now",
    data: { run, harness: "the harness that nothing is started in", until: "until when", reason },
  },
  "agent.ended": {
    when: "a run has ended and counts as such",
    data: { run: "the run, where nothing else follows from its end", word, reason },
  },
  "agent.retried": {
    when: "a run that had an accident is tried again",
    data: { role, attempt: "which attempt it is", delay: "seconds before it starts" },
  },
  "agent.respawned": { when: "a person brings a dead agent back", data: { role, prompt: "the prompt's name" } },
  "agent.resumed": { when: "a run that was lost goes on in its session", data: { role, reason } },
  "agent.stepped": {
    when: "a step of a stepped run is over",
    data: { step: "which one", limit: "how many it may take, where this was the last" },
  },
  "agent.reminded": {
    when: "an agent that went quiet is told what is missing",
    data: { role, message: "what it is told" },
  },
  "dialogue.asked": {
    when: "an agent asks a person something",
    data: { message: "what it asks", confirm: "whether a yes ends the dialogue" },
  },
  "dialogue.answered": {
    when: "a person has answered",
    data: { text: "the answer", round: "which round it was", confirmed: "whether it was a yes" },
  },
  "panel.answered": {
    when: "a member of a panel, or its judge, has ended",
    data: { member: "the member (missing for the judge)", word, reason },
  },
  "children.ended": { when: "the children of a fan-out are all through", data: { word, reason } },
  "message.sent": { when: "a run is to be told something", data: { message, to, text: "the message" } },
  "message.delivered": {
    when: "it has arrived",
    data: { message, to, evidence: "`seen`: the harness shows it. `typed`: it was typed, and nothing more is known" },
  },
  "message.undelivered": {
    when: "it cannot be delivered, and a person has to see to it",
    data: { message, to, reason },
  },
  "merge.asked": { when: "its work gets into line to be merged", data: { target, strategy: "`merge` or `ff`" } },
  "merge.waits": { when: "something of the person's is in the way of a merge", data: { target, reason, files } },
  "merge.landed": {
    when: "the branch contains its work",
    data: { target, commit: "its work", before: "where the branch was", after: "where it is now" },
  },
  "merge.failed": { when: "its work could not be merged", data: { target, word, reason, files } },
  "merge.undone": { when: "its work was taken back", data: { target, after: "where the branch is now" } },
  "merge.predicted": {
    when: "it is seen to conflict with another task",
    data: { other: "the other task", files },
  },
  "pr.opened": {
    when: "its pull request was opened",
    data: { number, url, head: "its branch", base: "the branch it is for" },
  },
  "pr.merged": { when: "its pull request was merged", data: { number, url, commit: "what the merge made" } },
  "pr.closed": { when: "its pull request was closed without being merged", data: { number, url, commit: "empty" } },
  "pr.feedback": {
    when: "people or checks have said something about its pull request",
    data: { number, url, text: "what they said" },
  },
} as const satisfies Readonly<Record<string, EventDescription>>;

export type TaskEventType = keyof typeof eventTypes;
