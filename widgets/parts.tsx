/** The steps of a page, and which one this screen belongs to. */
export function Steps({ label, steps, at }: { label: string; steps: readonly string[]; at: number }) {
  return (
    <ol class="progress" aria-label={label}>
      {steps.map((step, index) => (
        <li class={index < at ? 'past' : ''} aria-current={index === at ? 'step' : undefined}>
          {step}
        </li>
      ))}
    </ol>
  );
}

const MARKS = {
  good: 'M5 12.5l4.5 4.5L19 7.5',
  bad: 'M12 6.5v7M12 17.2v.1',
  wait: 'M12 7v5.5l3.5 2',
};

/** The sign above a screen without a form; says nothing that the heading does not. */
export function Mark({ kind }: { kind: keyof typeof MARKS }) {
  return (
    <div class={`mark ${kind}`}>
      <svg viewBox="0 0 24 24" aria-hidden="true">
        {kind === 'wait' && <circle cx="12" cy="12" r="8.5" />}
        <path d={MARKS[kind]} />
      </svg>
    </div>
  );
}
