import { useEffect, useRef } from 'preact/hooks';
import { isBlank, textOf, valueOf, type Field, type Row } from './fields.js';
import { Note } from './states.js';
import { spoken, visible } from './text.js';
import { Time } from './value.js';

/** An object at the revision that its page or dialog displays. */
export interface Version {
  readonly row: Row;
  readonly etag: string | null;
}

/** A recorded change of an object, and the person who made it. */
export interface Change {
  readonly by: string;
  readonly operation: string;
  readonly at: string;
  readonly reason: string;
}

/** The refusal of a write whose object has a newer revision than the dialog. */
export interface Conflict {
  readonly before: Version;
  readonly after: Version;
  readonly changes: readonly Change[];
}

interface ConflictProps {
  readonly conflict: Conflict;
  readonly fields: readonly Field[];
  /** True after the person's entries were applied to the new state. */
  readonly isRebased: boolean;
  /** True if the new state allows the write. */
  readonly isPossible: boolean;
}

/** Displays the changes since the dialog opened, and their author. */
export function ConflictNote({ conflict, fields, isRebased, isPossible }: ConflictProps) {
  const note = useRef<HTMLDivElement>(null);
  useEffect(() => note.current?.scrollIntoView({ block: 'nearest' }), [conflict, isRebased]);
  return (
    <div role="alert" ref={note}>
      <Note
        tone="warn"
        title={isRebased ? 'Your entries are on top of the new state' : 'Changed in the meantime'}
      >
        <p>
          {isRebased
            ? 'Nothing is saved yet: read the fields again. Lists have what each of you added.'
            : 'Nothing of yours was saved: it changed after this dialog was opened.'}
        </p>
        <Differences conflict={conflict} fields={fields} />
        {!isPossible && <p>This write is no longer possible in the new state.</p>}
      </Note>
    </div>
  );
}

type DifferencesProps = Pick<ConflictProps, 'conflict' | 'fields'>;

function Differences({ conflict: { before, after, changes }, fields }: DifferencesProps) {
  const differing = fields.filter(
    (field, place) =>
      field.unversioned !== true &&
      fields.findIndex(({ label }) => label === field.label) === place &&
      textOf(valueOf(field, before.row)) !== textOf(valueOf(field, after.row)),
  );
  return (
    <>
      {changes.map(({ by, operation, at, reason }) => (
        <p>
          <bdi>{visible(by)}</bdi>, <Time at={at} />: {spoken(operation)}. <q>{visible(reason)}</q>
        </p>
      ))}
      <dl class="changes">
        {differing.map((field) => (
          <div>
            <dt>{field.label}</dt>
            <dd>Was: {wordsOf(field, before.row)}</dd>
            <dd>Now: {wordsOf(field, after.row)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function wordsOf(field: Field, row: Row): string {
  const value = valueOf(field, row);
  if (isBlank(value)) return field.none ?? 'none';
  return visible(Array.isArray(value) ? value.map(textOf).join(', ') : textOf(value));
}
