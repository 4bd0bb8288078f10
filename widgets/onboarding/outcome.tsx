import { useEffect, useState } from 'preact/hooks';
import { Mark } from '../parts.js';
import type { StepState } from './api.js';
import { EMBEDDED } from './host.js';
import { useAct, usePage } from './page.js';
import { Alert, Heading } from './parts.js';
import { troubleWords, type Say } from './words.js';

/** Long enough to read that it worked. */
const LEAVES_AFTER_MS = 2500;

/** The identity was not verified. */
export function Failed({ state, retry }: { state: StepState; retry: () => void }) {
  const { say } = usePage();
  return (
    <section class="outcome">
      <Mark kind="bad" />
      <Heading>{say('failedHeading')}</Heading>
      <Reason text={state.reason} frame={say('failedReason')} />
      <p class="lead">{say('failedText')}</p>
      <button type="button" onClick={retry}>
        {say('failedRetry')}
      </button>
    </section>
  );
}

/** All is there but the card. */
export function CardFailed({ state, follow }: { state: StepState; follow: (state: StepState) => void }) {
  const { facts, api, say } = usePage();
  const [trouble, setTrouble] = useState<string | null>(null);
  const { busy, run } = useAct((refusal) => setTrouble(troubleWords(say, facts.locale, refusal)));
  const retry = (): void => {
    setTrouble(null);
    run(async () => follow(await api.step('card/retry', {})));
  };
  return (
    <section class="outcome">
      <Mark kind="bad" />
      <Heading>{say('cardFailedHeading')}</Heading>
      <Reason text={state.reason} frame={say('cardFailedReason')} />
      <p class="lead">{say('cardFailedText')}</p>
      <Alert>{trouble}</Alert>
      <button type="button" aria-disabled={busy} class={busy ? 'busy' : ''} onClick={retry}>
        {say('cardFailedRetry')}
      </button>
    </section>
  );
}

/** What a provider says; the server has put it in the person's language. */
function Reason({ text, frame }: { text: string | undefined; frame: string }) {
  if (text === undefined) return null;
  const [before, after] = frame.split('{reason}');
  return (
    <p class="reason">
      {before}
      <q>{text}</q>
      {after}
    </p>
  );
}

export function Done() {
  const { facts, say } = usePage();
  const { callbackUrl, merchantName: merchant } = facts;
  const target = EMBEDDED ? null : callbackUrl;
  useEffect(() => {
    // An app may not be installed: its link needs a press of the person.
    if (target === null || !target.startsWith('https:')) return undefined;
    const timer = setTimeout(() => location.replace(target), LEAVES_AFTER_MS);
    return () => clearTimeout(timer);
  }, [target]);
  return (
    <section class="outcome">
      <Mark kind="good" />
      <Heading>{say('doneHeading')}</Heading>
      <p class="lead">{say('doneText', { merchant })}</p>
      {target === null ? (
        <p class="next">{EMBEDDED ? say('doneEmbedded', { merchant }) : say('doneClose')}</p>
      ) : (
        <a class="button" href={target} rel="noreferrer">
          {say('doneContinue', { merchant })}
        </a>
      )}
    </section>
  );
}

export type ClosedBy = 'refusedLink' | 'refusedSuspended' | 'refusedClosing';

export function Closed({ by, say }: { by: ClosedBy; say: Say }) {
  return (
    <section class="outcome">
      <Mark kind="bad" />
      <Heading>{say(by)}</Heading>
      <p class="lead">{say(`${by}Text`)}</p>
    </section>
  );
}
