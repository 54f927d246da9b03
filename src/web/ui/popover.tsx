import { type ReactNode, useId } from "react";
import { Button, type ButtonLook } from "./button.tsx";

/** A native popover below the button that opens it. */
export function Popover({
  label,
  children,
  look = "plain",
  disabled = false,
}: {
  label: ReactNode;
  children: ReactNode;
  look?: ButtonLook;
  disabled?: boolean;
}) {
  const id = useId();
  return (
    <>
      <Button look={look} popoverTarget={id} disabled={disabled}>
        {label}
      </Button>
      <div
        id={id}
        popover="auto"
        className="below max-h-[70dvh] w-96 max-w-[calc(100vw-1rem)] overflow-y-auto rounded-lg border border-line bg-raised p-1 shadow-xl"
      >
        {children}
      </div>
    </>
  );
}

/** Closes the popover that the element is in. */
export function closePopover(element: Element): void {
  const popover = element.closest("[popover]");
  if (popover instanceof HTMLElement) popover.hidePopover();
}
