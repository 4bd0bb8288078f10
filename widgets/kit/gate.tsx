import type { ComponentChildren } from 'preact';
import { useKit } from './data.js';

interface GateProps {
  readonly brand: string;
  readonly mode: string;
  readonly children: ComponentChildren;
}

/** The page for a person without a session. */
export function Gate({ brand, mode, children }: GateProps) {
  return (
    <main class="gate">
      <p class="gate-brand">
        {brand} <Mode mode={mode} />
      </p>
      {children}
    </main>
  );
}

/** The label that distinguishes the sandbox from production. */
export function Mode({ mode }: { mode: string }) {
  const isReal = mode === 'live' || mode === 'production';
  return <span class={isReal ? 'badge' : 'badge try'}>{isReal ? 'Live' : mode}</span>;
}

export function AccountMenu({ rows, leave }: { rows: readonly string[]; leave: () => void }) {
  const { readOnly } = useKit();
  return (
    <>
      {rows.map((row) => (
        <p>{row}</p>
      ))}
      {readOnly !== null && <p class="quiet">{readOnly}</p>}
      <button type="button" onClick={leave}>
        Sign out
      </button>
    </>
  );
}
