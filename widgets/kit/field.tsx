import { useId } from 'preact/hooks';
import { linesOf, type FormField } from './form.js';
import { capital, spoken } from './text.js';

interface EntryProps {
  readonly field: FormField;
  readonly value: string;
  readonly set: (value: string) => void;
  /** The errors from the server. */
  readonly errors: readonly string[];
}

/** A field of a form with its label, hint and errors. */
export function Entry({ field, value, set, errors }: EntryProps) {
  const id = useId();
  const { label, hint, kind, required = false } = field;
  const notes = [hint !== undefined && `${id}-hint`, errors.length > 0 && `${id}-errors`]
    .filter(Boolean)
    .join(' ');
  const described = notes === '' ? {} : { 'aria-describedby': notes };
  const more = (
    <>
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {errors.length > 0 && (
        <p class="error" id={`${id}-errors`}>
          {errors.join('. ')}
        </p>
      )}
    </>
  );
  if (kind === 'checks')
    return (
      <fieldset class="entry" {...described}>
        <legend>{label}</legend>
        {more}
        <div class="checks">
          {field.options?.map((option) => (
            <Tick
              label={option}
              on={linesOf(value).includes(option)}
              set={(on) => set(toggled(value, option, on))}
            />
          ))}
        </div>
      </fieldset>
    );
  if (kind === 'tick')
    return (
      <div class="entry">
        <Tick label={label} on={value === 'true'} set={(on) => set(on ? 'true' : '')} />
        {more}
      </div>
    );
  const shared = { id, value, required, ...described, ...(errors.length > 0 && { 'aria-invalid': true }) };
  return (
    <div class="entry">
      <label for={id}>
        {label} {!required && <span class="quiet">(optional)</span>}
      </label>
      {kind === 'choice' ? (
        <select {...shared} onChange={({ currentTarget }) => set(currentTarget.value)}>
          {(!required || (field.preset ?? field.initial) === undefined) && (
            <option value="">{required ? 'Choose' : '–'}</option>
          )}
          {field.options?.map((option) => (
            <option value={option}>{capital(spoken(option))}</option>
          ))}
        </select>
      ) : kind === 'lines' ? (
        <textarea
          {...shared}
          rows={3}
          spellcheck={false}
          onInput={({ currentTarget }) => set(currentTarget.value)}
        />
      ) : (
        <input
          {...shared}
          {...(kind === 'time'
            ? { type: 'datetime-local' }
            : field.most === undefined
              ? { type: 'text' }
              : { type: 'number', min: 1, max: field.most })}
          {...(kind === 'number' && { inputMode: 'numeric', pattern: '[0-9]+' })}
          autocomplete="off"
          onInput={({ currentTarget }) => set(currentTarget.value)}
        />
      )}
      {more}
    </div>
  );
}

function Tick({ label, on, set }: { label: string; on: boolean; set: (on: boolean) => void }) {
  return (
    <label class="tick">
      <input type="checkbox" checked={on} onClick={({ currentTarget }) => set(currentTarget.checked)} />
      {label}
    </label>
  );
}

function toggled(value: string, option: string, on: boolean): string {
  const others = linesOf(value).filter((each) => each !== option);
  return (on ? [...others, option] : others).join('\n');
}
