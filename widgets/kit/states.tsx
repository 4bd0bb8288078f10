import type { ComponentChildren } from 'preact';
import { Problem } from './client.js';
import { visible } from './text.js';

export function Loading({ what = 'Loading' }: { what?: string }) {
  return (
    <p class="state quiet" role="status">
      {what}…
    </p>
  );
}

/** The state of an empty list: the reason and the next step. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state">
      <p class="state-title">{title}</p>
      {children !== undefined && <p class="quiet">{children}</p>}
    </div>
  );
}

/** Returns the remedy of a problem in words. */
export function remedyOf(error: unknown): { readonly title: string; readonly text: string } {
  if (!(error instanceof Problem))
    return { title: 'The page failed', text: 'Reload it. If that does not help, report what you did.' };
  const text = visible(error.detail);
  switch (error.status) {
    case 0:
      return { title: 'No connection', text };
    case 401:
      return { title: 'You are signed out', text: 'Sign in again to continue.' };
    case 403:
      return { title: 'Not allowed', text: text || 'Your role lacks the scope for this.' };
    case 404:
      return {
        title: 'Not found',
        text: 'Nothing here has this id, or you may not see it.',
      };
    case 412:
      return {
        title: 'Changed in the meantime',
        text: 'Somebody changed this after you opened it. Close this dialog, read the new state, then decide again.',
      };
    case 429:
      return { title: 'Too many requests', text: 'Wait a minute, then retry.' };
    default:
      return { title: visible(error.title), text };
  }
}

export function Trouble({ error, retry }: { error: unknown; retry?: () => void }) {
  const { title, text } = remedyOf(error);
  return (
    <div class="note bad" role="alert">
      <p class="note-title">{title}</p>
      {text !== '' && <p>{text}</p>}
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          Retry
        </button>
      )}
    </div>
  );
}

export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'quiet';

/** A note on a state and on the next step. */
export function Note({ tone, title, children }: { tone: Tone; title: string; children?: ComponentChildren }) {
  return (
    <div class={`note ${tone}`}>
      <p class="note-title">{title}</p>
      {children}
    </div>
  );
}
