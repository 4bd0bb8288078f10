import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { LOGIN_REQUIRED, Problem } from './client.js';
import { ConflictNote, type Conflict, type Version } from './conflict.js';
import { useKit, type Decider } from './data.js';
import { Dialog } from './dialog.js';
import { DoneDialog, isPending, secretIn, type Done } from './done.js';
import { Entry } from './field.js';
import { textAt, type Field, type Row } from './fields.js';
import { bodyOf, initialValues, rebase, type FormField, type Values } from './form.js';
import { Note, Trouble } from './states.js';
import { visible } from './text.js';

/** A write of the API as a button with a dialog. */
export interface Action {
  readonly label: string;
  /** The label of the submit button, where it differs. */
  readonly submit?: string;
  readonly path: (row: Row, values: Values) => string;
  readonly method?: 'POST' | 'PATCH' | 'DELETE';
  /** The scope of the write; without it {@link when} alone decides. */
  readonly scope?: string;
  /** The effect of the write in a sentence or two. */
  readonly says: string;
  readonly fields?: readonly FormField[];
  /** Members of the body that follow from the fields. */
  readonly implied?: (values: Values) => Row;
  /** The additional fields, where they differ from the kit's `also`. */
  readonly also?: readonly FormField[];
  /** True where the write sends the revision that was read. */
  readonly revision?: boolean;
  readonly danger?: boolean;
  readonly when?: (row: Row, person: Decider) => boolean;
  readonly done: string;
  /** Returns the next page by the response. */
  readonly then?: (body: Row) => string | null;
}

/** A thing that a page displays, for the dialogs that change it. */
export interface Subject extends Version {
  readonly fields: readonly Field[];
  /** Reads it again; null where that fails. */
  readonly reread: () => Promise<Version | null>;
}

const NOTHING: Subject = { row: {}, etag: null, fields: [], reread: async () => null };

interface ActionsProps {
  readonly actions: readonly Action[];
  readonly of?: Subject;
  readonly primary?: string;
  /** The name of the changed object in the heading of the dialog. */
  readonly subject?: string;
}

/** The buttons of the writes that the session may do now. */
export function Actions({ actions, of = NOTHING, primary, subject }: ActionsProps) {
  const kit = useKit();
  const { can, readOnly } = kit;
  const [open, setOpen] = useState<Action | null>(null);
  const possible = actions.filter(
    ({ scope, when }) => (scope === undefined || can(scope)) && when?.(of.row, kit) !== false,
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
          of={of}
          close={() => setOpen(null)}
        />
      )}
    </>
  );
}

interface WriteProps {
  readonly action: Action;
  readonly title: string;
  readonly of: Subject;
  readonly close: () => void;
}

/** The dialog of a write. The page behind it polls, but the write has the revision that the dialog displays. */
function WriteDialog({ action, title, of, close }: WriteProps) {
  const kit = useKit();
  const { client, queries, say, signInAgain, also } = kit;
  const [base, setBase] = useState<Version>(of);
  const fields = useMemo(() => [...(action.fields ?? []), ...(action.also ?? also)], [action, also]);
  const before = useMemo(() => initialValues(fields, base.row), [fields, base]);
  const [values, setValues] = useState<Values>(before);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const [done, setDone] = useState<Done | null>(null);
  const [conflict, setConflict] = useState<Conflict | null>(null);
  const isOpen = conflict !== null && conflict.after !== base;
  const isPossible = conflict === null || action.when?.(conflict.after.row, kit) !== false;
  const keep = useRef<HTMLButtonElement>(null);
  // The button that had the focus is gone.
  useEffect(() => keep.current?.focus({ preventScroll: true }), [isOpen]);
  // The same write again has the same key: a lost response does not cost a second write.
  const keys = useMemo(() => new Map<string, string>(), []);
  const method = action.method ?? 'POST';

  const finish = async (response: Done): Promise<void> => {
    await queries.invalidateQueries();
    if (secretIn(response.body) !== null || isPending(response)) return setDone(response);
    close();
    say(action.done, action.then?.(response.body) ?? undefined);
  };
  /** Returns false where the newer state could not be read. */
  const compare = async (): Promise<boolean> => {
    const after = await of.reread();
    if (after === null || after.etag === base.etag) return false;
    const changes = (await kit.changesSince?.(textAt(base.row, 'id'), base.etag).catch(() => [])) ?? [];
    setConflict({ before: base, after, changes });
    return true;
  };
  const apply = ({ after }: Conflict): void => {
    setValues(rebase(fields, values, { before, after: initialValues(fields, after.row) }));
    setBase(after);
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
      const path = action.path(base.row, values);
      const etag = action.revision ? base.etag : null;
      await finish(await client.write({ method, path, body, key, etag }));
    } catch (error) {
      const known = error instanceof Problem ? error : new Problem(0, 'The page failed', String(error));
      // The repeat of a write that was refused is another write.
      if (known.status >= 400 && known.status < 500) keys.delete(text);
      if (known.status !== 412 || !(await compare().catch(() => false))) setProblem(known);
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
  if (done !== null) return <DoneDialog done={done} title={action.done.replace(/\.$/, '')} close={close} />;
  return (
    <Dialog title={title} close={close} stays={busy}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!isOpen) void send();
        }}
      >
        <p class="lead">{action.says}</p>
        {conflict !== null && (
          <ConflictNote conflict={conflict} fields={of.fields} isRebased={!isOpen} isPossible={isPossible} />
        )}
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
        {isOpen ? (
          <div class="buttons">
            <button type="button" class="primary" ref={keep} onClick={close}>
              Keep theirs
            </button>
            {isPossible && (
              <button type="button" onClick={() => apply(conflict)}>
                Apply mine on top
              </button>
            )}
          </div>
        ) : (
          <div class="buttons">
            <button type="submit" class={action.danger ? 'primary danger' : 'primary'} disabled={busy}>
              {busy ? 'Sending…' : (action.submit ?? action.label)}
            </button>
            <button type="button" onClick={close} disabled={busy}>
              Cancel
            </button>
          </div>
        )}
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
  // These errors belong to no field of the form.
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
