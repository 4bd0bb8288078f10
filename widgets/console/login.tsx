import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import { Heading } from '../kit/frame.js';
import { Gate } from '../kit/gate.js';
import { Note } from '../kit/states.js';
import { enrol, signInByLink, signInByPasskey, signInTrouble, type ConsoleFacts } from './session.js';

const TO = 'console.to';

/** Stores the person's page during the redirect to the identity provider. */
export function rememberPlace(url: string): void {
  if (!/^\/(login|enrol)/.test(url)) sessionStorage.setItem(TO, url);
}

export function placeBefore(): string {
  const to = sessionStorage.getItem(TO) ?? '/';
  sessionStorage.removeItem(TO);
  return /^\/(?![/\\])/.test(to) ? to : '/';
}

interface LoginProps {
  readonly facts: ConsoleFacts;
  readonly done: () => void;
  /** The reason for a login that the page started itself. */
  readonly why: string | null;
}

export function Login({ facts, done, why }: LoginProps) {
  const { busy, trouble, run } = useAttempt(signInByPasskey, done);
  return (
    <Gate brand="Disburse console" mode={facts.mode}>
      <Heading title="Sign in">Sign in</Heading>
      {why !== null && <p class="lead">{why}</p>}
      <div class="stack">
        {facts.oidc ? (
          <a class="button primary" href="/login/oidc" target="_top">
            Sign in with your identity provider
          </a>
        ) : (
          <button type="button" class="primary" disabled={busy} onClick={run}>
            {busy ? 'Waiting for your passkey…' : 'Sign in with a passkey'}
          </button>
        )}
      </div>
      {trouble !== null && <Problematic text={trouble} />}
      {!facts.oidc && (
        <p class="quiet small">
          No passkey yet? Ask an administrator to invite you: you receive a one-time link.
        </p>
      )}
    </Gate>
  );
}

/** The token of a one-time link. It is removed from the address at once. */
export function takeToken(): string | null {
  if (location.pathname !== '/enrol') return null;
  const token = location.hash.slice(1);
  if (token !== '') history.replaceState(null, '', '/enrol');
  return token === '' ? null : token;
}

export function Enrol({
  facts,
  token,
  done,
}: {
  facts: ConsoleFacts;
  token: string | null;
  done: () => void;
}) {
  const { route } = useLocation();
  const { busy, trouble, run } = useAttempt(() => enrol(token ?? ''), done);
  const link = useAttempt(() => signInByLink(token ?? ''), done);
  const problem = trouble ?? link.trouble;
  return (
    <Gate brand="Disburse console" mode={facts.mode}>
      <Heading title="Create your passkey">Create your passkey</Heading>
      {token === null ? (
        <>
          <p class="lead">
            This page needs the one-time link that you received. Open the link again, or ask for another.
          </p>
          <button type="button" onClick={() => route('/login')}>
            Go to sign in
          </button>
        </>
      ) : (
        <>
          <p class="lead">
            You sign in with it from now on: your fingerprint, your face or the code of this device. The link
            is good for one passkey.
          </p>
          <div class="stack">
            <button type="button" class="primary" disabled={busy} onClick={run}>
              {busy ? 'Waiting for your device…' : 'Create passkey'}
            </button>
            {facts.mode === 'sandbox' && (
              <button type="button" disabled={link.busy} onClick={link.run}>
                Sign in without a passkey
              </button>
            )}
          </div>
          {problem !== null && <Problematic text={problem} />}
        </>
      )}
    </Gate>
  );
}

/** Allows one attempt at a time. Describes its error in words. */
function useAttempt(attempt: () => Promise<void>, done: () => void) {
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  const run = (): void => {
    setBusy(true);
    setTrouble(null);
    attempt()
      .then(done, (error: unknown) => setTrouble(signInTrouble(error)))
      .finally(() => setBusy(false));
  };
  return { busy, trouble, run };
}

function Problematic({ text }: { text: string }) {
  return (
    <div role="alert">
      <Note tone="bad" title="That did not work">
        <p>{text}</p>
      </Note>
    </div>
  );
}
