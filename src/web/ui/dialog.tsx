import { type ReactNode, useEffect, useRef } from "react";

/** A native modal dialog: the browser keeps the focus in it, and Escape closes it. */
export function Dialog({
  title,
  onClose,
  children,
  width = "max-w-xl",
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
  width?: string;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    if (dialog !== null && !dialog.open) dialog.showModal();
    // The browser would choose the first element that can have the focus, also one around the field.
    dialog?.querySelector<HTMLElement>("input, textarea")?.focus();
    return () => dialog?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does what a click beside the dialog does.
    <dialog
      ref={ref}
      aria-label={title}
      onCancel={(event) => {
        // Closed by the browser, it would say so only later, when another dialog may be open already.
        event.preventDefault();
        onClose();
      }}
      onClose={onClose}
      onClick={(event) => event.target === event.currentTarget && onClose()}
      className={`w-[calc(100%-1.5rem)] ${width} rounded-lg border border-line bg-raised p-0 shadow-xl max-h-[85dvh] overflow-hidden`}
    >
      <div className="flex max-h-[85dvh] flex-col">
        <header className="flex items-center gap-2 border-b border-line pr-2 pl-4">
          <h2 className="min-w-0 flex-1 py-2.5 text-lg font-semibold">{title}</h2>
          <button
            type="button"
            onClick={onClose}
            // The footer's own button says what closing means here.
            aria-label="Leave this dialog"
            className="size-8 shrink-0 rounded text-lg text-muted hover:bg-hover hover:text-ink pointer-coarse:size-11"
          >
            ×
          </button>
        </header>
        <div className="overflow-y-auto px-4 py-3">{children}</div>
      </div>
    </dialog>
  );
}
