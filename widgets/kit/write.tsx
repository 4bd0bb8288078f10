import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { LOGIN_REQUIRED, Problem } from './client.js';
import { useKit, type Decider } from './data.js';
import { Dialog } from './dialog.js';
import { Entry } from './field.js';
import { isRow, textAt, type Row } from './fields.js';
import { bodyOf, initialValues, type FormField, type Values } from './form.js';
import { Note, Trouble } from './states.js';
import { visible } from './text.js';
import { Copy } from './value.js';

/** A write of the API as a button with a dialog. */
export interface Action {
  readonly label: string;
  /** Of the button that sends it, where that is not the label. */
  readonly submit?: string;
  readonly path: (row: Row, values: Values) => string;
  readonly method?: 'POST' | 'PATCH' | 'DELETE';
  /** Without it {@link when} alone decides. */
  readonly scope?: string;
  /** What it does, in a sentence or two. */
  readonly says: string;
  readonly fields?: readonly FormField[];
  /** Members of the body that follow from the fields. */
  readonly implied?: (values: Values) => Row;
  /** What the write says in addition, where that is less than the kit's `also`. */
  readonly also?: readonly FormField[];
  /** Whether the revision that was read goes with it. */
  readonly revision?: boolean;
  readonly danger?: boolean;
  readonly when?: (row: Row, person: Decider) => boolean;
  readonly done: string;
  /** Where the person goes afterwards, by the response. */
  readonly then?: (body: Row) => string | null;
}

interface ActionsProps {
  readonly actions: readonly Action[];
  readonly row?: Row;
  readonly etag?: string | null;
  readonly primary?: string;
  /** What they change, for the heading of the dialog. */
  readonly subject?: string;
}

/** The buttons of the writes that the session may do now. */
export function Actions({ actions, row = {}, etag = null, primary, subject }: ActionsProps) {
  const kit = useKit();
  const { can, readOnly } = kit;
  const [open, setOpen] = useState<Action | null>(null);
  const possible = actions.filter(
    ({ scope, when }) => (scope === undefined || can(scope)) && when?.(row, kit) !== false,
  );
  return (
    <>
      {possible.map((action) => (
        <button
          type="button"
          class={action.label === primary ? 'primary' : action.danger ? 'danger' : ''}
          disabled={readOnly !== null}
          title={readOnly ?? undefined}
          onClick={() => setOpen(action)}
        >
          {action.label}
        </button>
      ))}
      {open !== null && (
        <WriteDialog
          action={open}
          title={subject === undefined ? open.label : `${open.label}: ${visible(subject)}`}
          row={row}
          etag={etag}
          close={() => setOpen(null)}
        />
      )}
    </>
  );
}

interface WriteProps {
  readonly action: Action;
  readonly title: string;
  readonly row: Row;
  readonly etag: string | null;
  readonly close: () => void;
}

/** Whether another person has to approve first: 202 alone may also mean that a worker does it. */
function isPending({ status, body }: Done): boolean {
  return status === 202 && isRow(body['operation']);
}

interface Done {
  readonly status: number;
  readonly body: Row;
}

function WriteDialog({ action, title, row, etag, close }: WriteProps) {
  const { client, queries, say, signInAgain, also } = useKit();
  const fields = useMemo(() => [...(action.fields ?? []), ...(action.also ?? also)], [action, also]);
  const before = useMemo(() => initialValues(fields, row), [fields]);
  const [values, setValues] = useState<Values>(before);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const [done, setDone] = useState<Done | null>(null);
  // The same write again has the same key: a lost response does not cost a second write.
  const keys = useMemo(() => new Map<string, string>(), []);
  const method = action.method ?? 'POST';

  const finish = async (response: Done): Promise<void> => {
    await queries.invalidateQueries();
    if (secretIn(response.body) !== null || isPending(response)) return setDone(response);
    close();
    say(action.done, action.then?.(response.body) ?? undefined);
  };
  const send = async (): Promise<void> => {
    const body = {
      ...bodyOf(fields, values, method === 'PATCH' ? before : null),
      ...action.implied?.(values),
    };
    const text = JSON.stringify(body);
    const key = keys.get(text) ?? crypto.randomUUID();
    keys.set(text, key);
    setBusy(true);
    setProblem(null);
    try {
      const path = action.path(row, values);
      await finish(await client.write({ method, path, body, key, etag: action.revision ? etag : null }));
    } catch (error) {
      const known = error instanceof Problem ? error : new Problem(0, 'The page failed', String(error));
      setProblem(known);
      // The repeat of a write that was refused is another write.
      if (known.status >= 400 && known.status < 500) keys.delete(text);
    } finally {
      setBusy(false);
    }
  };
  const again = async (): Promise<void> => {
    try {
      await signInAgain?.();
      await send();
    } catch (error) {
      setProblem(new Problem(403, LOGIN_REQUIRED, String(error)));
    }
  };
  if (done !== null) return <DoneDialog done={done} action={action} close={close} />;
  return (
    <Dialog title={title} close={close} stays={busy}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <p class="lead">{action.says}</p>
        {fields
          .filter(({ when }) => when?.(values) !== false)
          .map((field) => (
            <Entry
              key={field.name}
              field={field}
              value={values[field.name] ?? ''}
              set={(value) => setValues({ ...values, [field.name]: value })}
              errors={problem?.errors[field.name] ?? []}
            />
          ))}
        {problem !== null && <Refused problem={problem} fields={fields} again={signInAgain && again} />}
        <div class="buttons">
          <button type="submit" class={action.danger ? 'primary danger' : 'primary'} disabled={busy}>
            {busy ? 'Sending…' : (action.submit ?? action.label)}
          </button>
          <button type="button" onClick={close} disabled={busy}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface RefusedProps {
  readonly problem: Problem;
  readonly fields: readonly FormField[];
  readonly again: (() => Promise<void>) | null;
}

function Refused({ problem, fields, again }: RefusedProps) {
  if (problem.wantsLogin && again !== null)
    return (
      <Note tone="warn" title="Confirm that it is you">
        <p>Decisions need a sign-in within the last 5 minutes. What you entered is kept.</p>
        <button type="button" class="primary" onClick={() => void again()}>
          Sign in and continue
        </button>
      </Note>
    );
  // What no field of the form displays.
  const others = Object.entries(problem.errors).filter(
    ([name]) => !fields.some((field) => field.name === name),
  );
  return (
    <>
      <Trouble error={problem} />
      {others.map(([name, messages]) => (
        <p class="error">
          {name}: {messages.join('. ')}
        </p>
      ))}
    </>
  );
}

interface Secret {
  readonly label: string;
  readonly text: string;
}

/** What a response says once and never again. */
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

function DoneDialog({ done, action, close }: { done: Done; action: Action; close: () => void }) {
  const { body } = done;
  const waits = isPending(done);
  const secret = secretIn(body);
  const operation = textAt(body, 'operation.id') || textAt(body, 'operation_id');
  return (
    <Dialog
      title={waits ? 'A second person must approve' : action.done.replace(/\.$/, '')}
      close={close}
      stays={secret !== null}
    >
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
