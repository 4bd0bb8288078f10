import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  /** Without it `Escape` closes the dialog. */
  readonly stays?: boolean;
  readonly children: ComponentChildren;
}

/** A modal dialog: the browser's own, which keeps the focus inside and gives it back. */
export function Dialog({ title, close, stays = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const { current } = dialog;
    const before = document.activeElement;
    current?.showModal();
    return () => {
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
      // Browsers may close it without the event before, when nothing was touched in between.
      onClose={({ currentTarget }) => {
        if (!stays) close();
        else if (currentTarget.isConnected) currentTarget.showModal();
      }}
    >
      <h2 id={heading}>{title}</h2>
      {children}
    </dialog>
  );
}
