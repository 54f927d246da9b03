import type { ComponentProps, ReactNode } from "react";

const looks = {
  main: "bg-accent text-on-accent border-accent hover:brightness-110",
  plain: "bg-panel border-line hover:bg-hover",
  quiet: "border-transparent hover:bg-hover text-muted hover:text-ink",
  bad: "bg-panel border-line text-bad hover:bg-bad-soft",
} as const;

export type ButtonLook = keyof typeof looks;

interface ButtonProps extends Omit<ComponentProps<"button">, "type"> {
  look?: ButtonLook;
  type?: "button" | "submit";
  /** The key that does the same. */
  hint?: string;
}

/** A button. On a touch screen it is tall enough for a thumb. */
export function Button({ look = "plain", hint, children, className = "", type = "button", ...rest }: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      className={`inline-flex items-center justify-center gap-1.5 rounded-md border px-2.5 py-1 font-medium whitespace-nowrap transition-colors disabled:opacity-50 pointer-coarse:min-h-11 pointer-coarse:px-4 ${looks[look]} ${className}`}
    >
      {children}
      {hint !== undefined && hint !== "" && <Key isHint>{hint}</Key>}
    </button>
  );
}

/** A key of the keyboard. As a hint it is shown only where a keyboard is likely: not on a touch screen, nor on one as narrow as a phone's. */
export function Key({ children, isHint = false }: { children: ReactNode; isHint?: boolean }) {
  return (
    <kbd
      className={`rounded border border-current/30 px-1 font-mono text-xs leading-4 opacity-75 ${isHint ? "max-sm:hidden pointer-coarse:hidden" : ""}`}
    >
      {children}
    </kbd>
  );
}
