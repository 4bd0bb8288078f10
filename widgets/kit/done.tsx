import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.js';
import { isRow, textAt, type Row } from './fields.js';
import { Note } from './states.js';
import { Copy } from './value.js';

/** Returns true if another person has to approve first. Status 202 alone may also mean work in the background. */
export function isPending({ status, body }: Done): boolean {
  return status === 202 && isRow(body['operation']);
}

export interface Done {
  readonly status: number;
  readonly body: Row;
}

interface Secret {
  readonly label: string;
  readonly text: string;
}

/** A secret that is contained in one response only. */
export function secretIn(body: Row): Secret | null {
  const places = [
    '',
    'credential.',
    'operation.',
    'operator.',
    'result.',
    'key.',
    'endpoint.',
    'webhook_endpoint.',
  ];
  const names = {
    secret: 'Secret',
    login_url: 'Login link',
    signing_secret: 'Signing secret',
    private_key: 'Private key',
  };
  for (const place of places)
    for (const [name, label] of Object.entries(names)) {
      const text = textAt(body, place + name);
      if (text !== '') return { label, text };
    }
  return null;
}

export function DoneDialog({ done, title, close }: { done: Done; title: string; close: () => void }) {
  const { body } = done;
  const waits = isPending(done);
  const secret = secretIn(body);
  const operation = textAt(body, 'operation.id') || textAt(body, 'operation_id');
  return (
    <Dialog title={waits ? 'A second person must approve' : title} close={close} stays={secret !== null}>
      {waits && (
        <p class="lead">
          Nothing has changed yet. Ask a colleague with the same rights to approve it within 72 hours; if it
          changes before that, it has to be requested again.
        </p>
      )}
      {secret !== null && <SecretText {...secret} />}
      <div class="buttons">
        <button type="button" class="primary" onClick={close}>
          {secret === null ? 'Close' : 'I have stored it'}
        </button>
        {operation !== '' && waits && (
          <a class="button" href={`/operations/${encodeURIComponent(operation)}`} onClick={close}>
            Open the operation
          </a>
        )}
      </div>
    </Dialog>
  );
}

function SecretText({ label, text }: Secret): ComponentChildren {
  return (
    <Note tone="warn" title={`${label}: displayed once`}>
      <p>Store it now where it belongs. It cannot be displayed again.</p>
      <pre class="block secret">{text}</pre>
      <Copy text={text} label={`Copy the ${label.toLowerCase()}`} words="Copy" />
    </Note>
  );
}
