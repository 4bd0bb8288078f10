import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Problem } from '../kit/client.js';
import { Heading } from '../kit/frame.js';
import { Gate } from '../kit/gate.js';
import { Loading, Trouble } from '../kit/states.js';
import { BRAND, enter } from './session.js';

/** The code of a link, which leaves the address at once. */
export function takeCode(): string | null {
  if (location.pathname !== '/enter') return null;
  const code = location.hash.slice(1);
  history.replaceState(null, '', code === '' ? '/' : '/enter');
  return code === '' ? null : code;
}

/** Returns the code and a function that drops it. A link pasted into the open page changes only the fragment. */
export function useCode(first: string | null): [string | null, () => void] {
  const [code, setCode] = useState(first);
  useEffect(() => {
    const read = (): void => setCode((before) => takeCode() ?? before);
    window.addEventListener('hashchange', read);
    return () => window.removeEventListener('hashchange', read);
  }, []);
  return [code, () => setCode(null)];
}

interface EnterProps {
  readonly mode: string;
  readonly code: string;
  readonly done: () => void;
  /** The person stays where they are. */
  readonly stay: () => void;
}

/** Opens the session of a link. */
export function Enter({ mode, code, done, stay }: EnterProps) {
  const [error, setError] = useState<unknown>(null);
  const run = (replace = false): void => {
    setError(null);
    enter(code, replace).then(done, setError);
  };
  useEffect(() => run(), [code]);
  if (error instanceof Problem && error.status === 409)
    return (
      <Gate brand={BRAND} mode={mode}>
        <Heading title="Another merchant">Leave the portal of the other merchant?</Heading>
        <p class="lead" role="status">
          This browser is signed in to the portal of another merchant than the link belongs to. If you
          continue, that session ends. Stay if you did not expect this link.
        </p>
        <div class="stack">
          <button type="button" class="primary" onClick={stay}>
            Stay
          </button>
          <button type="button" onClick={() => run(true)}>
            Leave and continue
          </button>
        </div>
      </Gate>
    );
  if (error instanceof Problem && error.status >= 400 && error.status < 500 && error.status !== 429)
    return (
      <Closed mode={mode} title="This link does not work any more">
        It was used already, has expired or was revoked: a link is good once and for 15 minutes. Go back to
        your back office and open a new one.
      </Closed>
    );
  return (
    <Gate brand={BRAND} mode={mode}>
      <Heading title="Sign in">Signing in to the portal</Heading>
      {error === null ? <Loading what="Signing in" /> : <Trouble error={error} retry={() => run()} />}
    </Gate>
  );
}

interface ClosedProps {
  readonly mode: string;
  readonly title: string;
  /** The address of the merchant's own pages, where the session had one. */
  readonly back?: string | null;
  readonly children: ComponentChildren;
}

/** The page without a session, which names the reason and the way to a new one. */
export function Closed({ mode, title, back = null, children }: ClosedProps) {
  return (
    <Gate brand={BRAND} mode={mode}>
      <Heading title={title}>{title}</Heading>
      <p class="lead" role="status">
        {children}
      </p>
      {back !== null && (
        <div class="stack">
          <a class="button primary" href={back}>
            {backLabel(back)}
          </a>
        </div>
      )}
    </Gate>
  );
}

export function backLabel(back: string): string {
  return `Back to ${new URL(back).host}`;
}
