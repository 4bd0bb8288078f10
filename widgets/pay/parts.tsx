import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { encode } from 'uqr';
import { clock, spokenMilestone } from './words.js';

/** The heading of a screen: gets the focus when the screen appears, so that a screen reader begins there. */
export function Heading({ children }: { children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <h1 tabIndex={-1} ref={heading}>
      {children}
    </h1>
  );
}

/** Something is wrong, or has to be known before going on. */
export function Alert({ kind = 'bad', children }: { kind?: 'bad' | 'warn'; children: ComponentChildren }) {
  return (
    <div class={`alert ${kind}`} role="alert">
      {children}
    </div>
  );
}

/** The milliseconds until `until`, by the server's clock; asks for a new look every second. */
export function useTimeLeft(until: string, now: () => number): number {
  const [, look] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => look((looks) => looks + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, Date.parse(until) - now());
}

export function Countdown({ until, now }: { until: string; now: () => number }) {
  const left = useTimeLeft(until, now);
  const milestone = spokenMilestone(left);
  const said = useRef('');
  if (milestone !== null) said.current = milestone;
  return (
    <>
      <span class="clock" role="timer" aria-live="off">
        {clock(left)}
      </span>
      <span class="unseen" aria-live="polite">
        {said.current}
      </span>
    </>
  );
}

/** A text that is to be taken over exactly, with a button that copies it. */
export function Copyable({ label, text, shown = text }: { label: string; text: string; shown?: string }) {
  const id = useId();
  const [copied, setCopied] = useState<boolean | null>(null);
  const value = useRef<HTMLElement>(null);
  useEffect(() => {
    if (copied === null) return undefined;
    const timer = setTimeout(() => setCopied(null), 2500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = (): void => {
    const done = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'));
    done.then(
      () => setCopied(true),
      () => {
        // Framed or without HTTPS: selected, it takes one key more.
        if (value.current) getSelection()?.selectAllChildren(value.current);
        setCopied(false);
      },
    );
  };
  return (
    <div class="copyable">
      <div class="text">
        <span class="label" id={id}>
          {label}
        </span>
        <code ref={value} aria-labelledby={id}>
          {shown}
        </code>
      </div>
      <button type="button" class="copy" onClick={copy} aria-label={`Copy ${label.toLowerCase()}`}>
        {copied ? 'Copied' : copied === false ? 'Selected' : 'Copy'}
      </button>
      <span class="unseen" role="status">
        {copied ? `${label} copied` : copied === false ? `${label} selected: copy it with the keyboard` : ''}
      </span>
    </div>
  );
}

/** The text as a QR code, dark on light in either dress: many cameras read nothing else. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { ecc: 'M', border: 3 });
  // A run of dark modules is one box: seams between boxes would show.
  const dark = data.map((row, y) =>
    [
      ...row
        .map((is) => (is ? 'x' : ' '))
        .join('')
        .matchAll(/x+/g),
    ]
      .map(({ index, 0: run }) => `M${index} ${y}h${run.length}v1h-${run.length}z`)
      .join(''),
  );
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shapeRendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={dark.join('')} fill="#000" />
    </svg>
  );
}

/** A transaction, as a link where there is somewhere to look it up. */
export function Transaction({ hash, explorer }: { hash: string; explorer: string | null }) {
  if (explorer === null) return <code>{hash}</code>;
  return (
    <a href={explorer.replace('{hash}', encodeURIComponent(hash))} target="_blank" rel="noopener noreferrer">
      <code>{hash}</code>
    </a>
  );
}

const STEPS = ['Currency', 'Amount', 'Payment'];

export function Progress({ at }: { at: number }) {
  return (
    <ol class="progress" aria-label="Steps">
      {STEPS.map((step, index) => (
        <li class={index < at ? 'past' : ''} aria-current={index === at ? 'step' : undefined}>
          {step}
        </li>
      ))}
    </ol>
  );
}
