import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';

let open = 0;
const followers = new Set<(open: number) => void>();
function count(by: 1 | -1): void {
  open += by;
  for (const follow of followers) follow(open);
}

/** The value before a dialog opened. The page behind a dialog does not change. */
export function useBehindDialogs<T>(value: T): T {
  const [isBehind, setBehind] = useState(open > 0);
  const before = useRef(value);
  useEffect(() => {
    const follow = (open: number): void => setBehind(open > 0);
    followers.add(follow);
    return () => void followers.delete(follow);
  }, []);
  if (!isBehind) before.current = value;
  return before.current;
}

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  /** True for a dialog that `Escape` does not close. */
  readonly stays?: boolean;
  readonly children: ComponentChildren;
}

/** A modal dialog. It uses the browser's own, which traps and restores the focus. */
export function Dialog({ title, close, stays = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const { current } = dialog;
    const before = document.activeElement;
    current?.showModal();
    count(1);
    return () => {
      count(-1);
      current?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        if (!stays) close();
      }}
      // A browser may close the dialog without the preceding event if the person did not interact.
      onClose={({ currentTarget }) => {
        if (!currentTarget.isConnected) return;
        if (stays) currentTarget.showModal();
        else close();
      }}
    >
      <h2 id={heading}>{title}</h2>
      {children}
    </dialog>
  );
}
