import { useEffect, useState } from 'preact/hooks';
import { useKit } from './data.js';
import { isBlank, textOf, unitOf, valueOf, type Field, type Row } from './fields.js';
import type { Tone } from './states.js';
import { grouped, money, shortened, spoken, visible } from './text.js';
import { relative, shortUtc, utc } from './time.js';

interface ValueProps {
  readonly field: Field;
  readonly row: Row;
  /** True in a detail list, where ids have room. */
  readonly full?: boolean;
  /** The target of the row, in its first column. */
  readonly opens?: string | null;
}

/** The value of a field of a row. */
export function Value({ field, row, full = false, opens = null }: ValueProps) {
  const { can } = useKit();
  const value = valueOf(field, row);
  const leads = field.toScope === undefined || can(field.toScope);
  const href = opens ?? (leads ? field.to?.(row) : null) ?? null;
  const text = textOf(value);
  const link = href === null ? null : { href, ...(opens !== null && { 'data-row': '' }) };
  if (isBlank(value))
    return link === null ? (
      <span class="quiet">{field.none ?? '–'}</span>
    ) : (
      <a {...link}>{field.none ?? 'none'}</a>
    );
  if (field.as === 'id' || field.as === 'code')
    return <Id text={text} link={link} whole={full} copies={field.as === 'id' || full} />;
  const content = contentOf(field, row, value, full);
  return link === null ? content : <a {...link}>{content}</a>;
}

function contentOf(field: Field, row: Row, value: unknown, full: boolean) {
  const text = textOf(value);
  switch (field.as) {
    case 'time':
      return <Time at={text} full={full} />;
    case 'money':
      return <Money amount={text} unit={unitOf(field, row)} />;
    case 'number':
      return <span class="number">{/^\d+$/.test(text) ? grouped(text) : visible(text)}</span>;
    case 'ms':
      return <span class="number">{grouped(text)} ms</span>;
    case 'status':
      return <Status code={text} />;
    case 'yes':
      return <span>{value === true ? 'yes' : 'no'}</span>;
    case 'list':
      return <List items={Array.isArray(value) ? value : [value]} />;
    case 'json':
      return <Block text={JSON.stringify(value, null, 2)} />;
    case 'block':
      return <Block text={text} />;
    default:
      return <bdi>{visible(text)}</bdi>;
  }
}

/** A scrolling block that the keyboard can reach. */
function Block({ text }: { text: string }) {
  return (
    <pre class="block" tabIndex={0}>
      {visible(text)}
    </pre>
  );
}

function List({ items }: { items: readonly unknown[] }) {
  return (
    <ul class="plain">
      {items.map((item) => (
        <li>
          <bdi>{visible(textOf(item))}</bdi>
        </li>
      ))}
    </ul>
  );
}

interface IdProps {
  readonly text: string;
  readonly link?: { readonly href: string } | null;
  readonly whole?: boolean;
  readonly copies?: boolean;
}

/** An id in fixed width, shortened where there is little room, with a button that copies it. */
export function Id({ text, link = null, whole = false, copies = true }: IdProps) {
  const words = visible(whole ? text : shortened(text));
  const code = <code title={visible(text)}>{words}</code>;
  return (
    <span class="id">
      {link === null ? code : <a {...link}>{code}</a>}
      {copies && <Copy text={text} label={`Copy ${words}`} />}
    </span>
  );
}

/** A button that copies a text. It displays the result for two seconds. */
export function Copy({ text, label, words }: { text: string; label: string; words?: string }) {
  const [said, setSaid] = useState('');
  useEffect(() => {
    if (said === '') return;
    const timer = setTimeout(() => setSaid(''), 2_000);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setSaid('Copied'),
      () => setSaid('Not copied'),
    );
  };
  return (
    <button
      type="button"
      class={words === undefined ? 'copy' : ''}
      aria-label={label}
      title={label}
      onClick={copy}
    >
      {said === '' && words === undefined ? <CopySign /> : <span role="status">{said || words}</span>}
    </button>
  );
}

function CopySign() {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
      <path d="M3.5 10.5h-1v-8h8v1" />
    </svg>
  );
}

const clocks = new Set<(now: number) => void>();
setInterval(() => clocks.forEach((set) => set(Date.now())), 15_000);

/** The time in ms, some seconds old at most. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    clocks.add(setNow);
    return () => void clocks.delete(setNow);
  }, []);
  return now;
}

/** A time in UTC, and how long ago that is. */
export function Time({ at, full = true }: { at: string; full?: boolean }) {
  const now = useNow();
  return (
    <time dateTime={at} title={`${visible(at)} (UTC)`}>
      {visible(full ? utc(at) : shortUtc(at, now))} UTC <span class="quiet">{relative(at, now)}</span>
    </time>
  );
}

export function Money({ amount, unit = '' }: { amount: string; unit?: string }) {
  return (
    <span class="number">
      {money(amount)}
      {unit !== '' && <span class="quiet"> {visible(unit)}</span>}
    </span>
  );
}

const TONES: Readonly<Record<Tone, readonly string[]>> = {
  good: 'active received succeeded completed executed enabled up ok running done proven settled'.split(' '),
  bad: 'failed exhausted suspended revoked halted down erased unreachable unavailable unresponsive disabled forged overdue'.split(
    ' ',
  ),
  warn: 'failing unconfirmed expired lapsed rolling deactivating refundable degraded late paid pending_approval'.split(
    ' ',
  ),
  busy: 'pending processing onboarding in_flight'.split(' '),
  quiet: [],
};

export function toneOf(code: string): Tone {
  // Statuses of HTTP.
  if (/^[1-5]\d\d$/.test(code)) return code < '400' ? 'good' : code < '500' ? 'warn' : 'bad';
  const tones = Object.entries(TONES) as [Tone, readonly string[]][];
  return tones.find(([, codes]) => codes.includes(code))?.[0] ?? 'quiet';
}

/** A status in a colour; the words say the same. */
export function Status({ code }: { code: string }) {
  return <span class={`status ${toneOf(code)}`}>{spoken(code)}</span>;
}
