/** One of the tasks that the demo creates. Its branch is also how the script knows which one it is. */
export interface DemoTask {
  readonly branch: string;
  readonly summary: string;
  /** What is to be seen in it. */
  readonly about: string;
  /** What the person answers where its agent asks. */
  readonly answer?: string;
}

export const demoTasks: readonly DemoTask[] = [
  { branch: "menu", summary: "Write the menu", about: "goes straight through" },
  { branch: "prices", summary: "Put prices on the list", about: "fails its review once" },
  {
    branch: "hours",
    summary: "Say when we are open",
    about: "has a question for a person",
    answer: "On Sundays from 9 to 12.",
  },
  { branch: "beans", summary: "List the beans", about: "is killed, and goes on" },
];
