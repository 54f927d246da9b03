import { Button } from "../ui/button.tsx";
import { Command } from "../ui/command.tsx";
import { Plain } from "../ui/text.tsx";

/** What a browser without a session sees: a link from the command line signs it in. */
export function SignedOut({ problem }: { problem: string }) {
  return (
    <main className="mx-auto flex min-h-full max-w-md flex-col justify-center gap-3 p-6">
      <h1 className="text-xl font-semibold">Signalbox</h1>
      {problem === "" ? (
        <p>This browser is not signed in, or its session is over.</p>
      ) : (
        <div role="alert" className="rounded-md bg-bad-soft px-3 py-2">
          <Plain text={problem} />
        </div>
      )}
      <p>On the machine where the daemon runs, this prints a link that signs you in. It works once, within a minute:</p>
      <Command text="signalbox web" className="text-base" />
      <p className="text-sm text-muted">Your drafts are kept in this browser.</p>
      <Button onClick={() => location.reload()}>Try again</Button>
    </main>
  );
}
