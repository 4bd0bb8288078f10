import { useEffect, useRef, useState } from 'preact/hooks';
import { asciiDigits } from '../../src/kernel/typed-text.js';
import type { Refusal, StepState } from './api.js';
import { useAct, useBack, usePage } from './page.js';
import { Alert, Field, Heading, Progress, SandboxNote, Submit, useFocusOnError } from './parts.js';
import { sendCode } from './send-code.js';
import { rich, describeTrouble, type Format } from './messages.js';

/** The length of a code that is valid in any browser. */
const LONG_DIGITS = 18;

interface CodeProps {
  readonly sentAt: number;
  readonly isLong: boolean;
  readonly notice: string | null;
  readonly sentAgain: (long: boolean | undefined) => void;
  readonly back: () => void;
  readonly verified: (state: StepState) => void;
}

export function Code({ sentAt, isLong, notice, sentAgain, back, verified }: CodeProps) {
  const { facts, api, format } = usePage();
  const [code, setCode] = useState('');
  const [wrong, setWrong] = useState({ text: '' });
  const [trouble, setTrouble] = useState<string | null>(null);
  const [news, setNews] = useState(notice);
  const form = useFocusOnError(wrong);
  const again = useRef<HTMLButtonElement>(null);
  const left = useSecondsLeft(sentAt + facts.codeEverySeconds * 1000);
  const sandboxCode = useSandboxCode(sentAt);
  useBack(true, back);

  const refused = (refusal: Refusal): void => {
    if ('code' in refusal.errors) {
      setCode('');
      setWrong({ text: describeWrongCode(format, refusal.attemptsLeft) });
      if (refusal.attemptsLeft === 0) again.current?.focus();
    } else if ('phone_unreachable' in refusal.errors)
      setTrouble(format('phoneUnreachable', { merchant: facts.merchantName }));
    else setTrouble(describeTrouble(format, facts.locale, refusal));
  };
  const { busy, run } = useAct(refused);
  const clear = (): void => {
    setWrong({ text: '' });
    setTrouble(null);
    setNews(null);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    clear();
    const digits = asciiDigits(code).replace(/\D/g, '');
    if (digits.length !== 6 && digits.length !== LONG_DIGITS)
      return setWrong({ text: format(isLong ? 'codeMissingLong' : 'codeMissing') });
    run(async () => verified(await api.verifyPhone(facts.phoneNumber, digits)));
  };
  const sendAgain = (): void => {
    if (left > 0) return;
    clear();
    run(async () => {
      const sent = await sendCode(api, facts.phoneNumber);
      setCode('');
      setNews(format(sent.notice ?? 'codeSentAgain'));
      sentAgain(sent.long);
      form.current?.querySelector('input')?.focus();
    });
  };
  return (
    <form noValidate onSubmit={submit} ref={form}>
      <Progress at={0} />
      <Heading>{format('codeHeading')}</Heading>
      <p class="lead">{format(isLong ? 'codeLeadLong' : 'codeLead', { phone: facts.phoneNumber })}</p>
      <Alert kind={trouble === null ? 'info' : 'bad'}>{trouble ?? news}</Alert>
      {sandboxCode !== undefined && (
        <SandboxNote>
          {sandboxCode === null
            ? format('codeSandboxGone')
            : rich(format('codeSandbox'), { code: <b class="digits">{sandboxCode}</b> })}
        </SandboxNote>
      )}
      <Field
        name="code"
        label={format('codeLabel')}
        error={wrong.text}
        type="text"
        input={{
          inputMode: 'numeric',
          autocomplete: 'one-time-code',
          maxLength: 30,
          value: code,
          class: isLong ? 'code long' : 'code',
          onInput: ({ currentTarget }) => setCode(currentTarget.value),
        }}
      />
      <Submit busy={busy}>{format('codeSubmit')}</Submit>
      <button type="button" class="quiet" ref={again} aria-disabled={left > 0} onClick={sendAgain}>
        {left > 0 ? format('codeAgainIn', { seconds: left }) : format('codeAgain')}
      </button>
      <button type="button" class="quiet" onClick={back}>
        {format('codeBack')}
      </button>
    </form>
  );
}

function describeWrongCode(format: Format, left: number | null): string {
  if (left === null) return format('codeWrong');
  if (left === 0) return format('codeSpent');
  return left === 1 ? format('codeWrongLast') : format('codeWrongLeft', { left });
}

/** Whole seconds until a time (epoch ms). */
function useSecondsLeft(until: number): number {
  const left = (): number => Math.max(0, Math.ceil((until - Date.now()) / 1000));
  const [, tick] = useState(0);
  const isOver = left() === 0;
  useEffect(() => {
    if (isOver) return undefined;
    const timer = setInterval(() => tick((ticks) => ticks + 1), 1000);
    return () => clearInterval(timer);
  }, [isOver, until]);
  return left();
}

/** Undefined outside of the sandbox, and until it is known. */
function useSandboxCode(sentAt: number): string | null | undefined {
  const { facts, api } = usePage();
  const [code, setCode] = useState<string | null | undefined>(undefined);
  useEffect(() => {
    if (facts.sandbox === null) return;
    api.inbox().then(setCode, () => setCode(null));
  }, [sentAt]);
  return code;
}
