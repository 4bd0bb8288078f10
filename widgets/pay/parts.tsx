import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { encode } from 'uqr';
import { Steps } from '../parts.js';
import type { Offer, PayOrder } from './api.js';
import { amountText } from './decimal-text.js';
import { usePage } from './page.js';
import { clock, spokenMilestone } from './messages.js';

/** The heading of a screen: gets the focus when the screen appears, so that a screen reader begins there. */
export function Heading({ children, title = children }: { children: string; title?: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { facts } = usePage();
  useEffect(() => {
    document.title = `${title} · ${facts.merchant.name}`;
  }, [title]);
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

/** The milliseconds until `until`, by the server's clock; renders again every second. */
export function useTimeLeft(until: string, now: () => number): number {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((ticks) => ticks + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, Date.parse(until) - now());
}

export function Countdown({ until, now }: { until: string; now: () => number }) {
  const { format } = usePage();
  const left = useTimeLeft(until, now);
  const milestone = spokenMilestone(format, left);
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

interface CopyableProps {
  readonly label: string;
  readonly text: string;
  readonly displayed?: ComponentChildren;
}

/** A text that has to be copied exactly, with a button that copies it. */
export function Copyable({ label, text, displayed = text }: CopyableProps) {
  const { format } = usePage();
  const id = useId();
  const [copied, setCopied] = useState<boolean | null>(null);
  const value = useRef<HTMLElement>(null);
  useEffect(() => {
    if (copied === null) return undefined;
    const timer = setTimeout(() => setCopied(null), 2500);
    return () => clearTimeout(timer);
  }, [copied]);
  const said = format(copied === null ? 'copyThing' : copied ? 'copiedThing' : 'selectedThing', {
    thing: label,
  });
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
          {displayed}
        </code>
      </div>
      <button type="button" class="copy" onClick={copy} aria-label={said}>
        {format(copied ? 'copied' : copied === false ? 'selected' : 'copy')}
      </button>
      <span class="unseen" role="status">
        {copied === null ? '' : said}
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

function Transaction({ hash, explorer }: { hash: string; explorer: string }) {
  return (
    <a href={explorer.replace('{hash}', encodeURIComponent(hash))} target="_blank" rel="noopener noreferrer">
      {hash}
    </a>
  );
}

const TRANSFERS = {
  deposit: 'transferDeposit',
  late: 'transferLate',
  payout: 'transferPayout',
  refund: 'transferRefund',
} as const;

/** Every transaction of an order with its hash, and the number of the order. */
export function Transfers({ offer, seen: { transfers, order } }: { offer: Offer; seen: PayOrder }) {
  const { facts, format } = usePage();
  return (
    <>
      {transfers.map(({ kind, amount, hash }) => {
        const { symbol, explorer } = kind === 'payout' ? facts.to : offer;
        const label = `${format(TRANSFERS[kind])} · ${amountText(amount, facts.locale)} ${symbol}`;
        const text = facts.sandbox ? hash : <Transaction hash={hash} explorer={explorer} />;
        const link = <span class="hash">{text}</span>;
        return <Copyable key={`${kind} ${hash}`} label={label} text={hash} displayed={link} />;
      })}
      <Copyable label={format('order')} text={order.id} />
    </>
  );
}

export function Progress({ at }: { at: number }) {
  const { format } = usePage();
  const steps = [format('stepCurrency'), format('stepAmount'), format('stepPayment')];
  return <Steps label={format('steps')} steps={steps} at={at} />;
}
