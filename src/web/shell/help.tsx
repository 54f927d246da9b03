import { keyTable } from "../keys/key-table.ts";
import { Key } from "../ui/button.tsx";
import { Command } from "../ui/command.tsx";
import { Dialog } from "../ui/dialog.tsx";

/** The keys, from the table that the handler reads. */
export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <table className="w-full">
        <tbody>
          {keyTable.map(({ id, keys, label, command }) => (
            <tr key={id} className="border-b border-line last:border-0 max-sm:block max-sm:py-1.5">
              <td className="py-1 pr-4 whitespace-nowrap max-sm:inline max-sm:pr-2">
                {keys.split(" ").map((key) => (
                  <span key={key} className="mr-1">
                    <Key>{key}</Key>
                  </span>
                ))}
              </td>
              <td className="py-1 pr-4 max-sm:inline">{label}</td>
              <td className="py-1 max-sm:block max-sm:empty:hidden">
                {command !== "" && <Command text={command} isWhole />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="mt-3 text-muted">
        A task's own keys are shown on its buttons and in its menu. They follow its workflow; one that is not allowed
        now says why.
      </p>
    </Dialog>
  );
}
