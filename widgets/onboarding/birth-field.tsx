import { partsIn, type BirthPart, type TypedBirth } from './birth.js';
import { usePage } from './page.js';

interface BirthFieldProps {
  readonly typed: TypedBirth;
  readonly type: (part: BirthPart, text: string) => void;
  readonly error: string;
  /** The fields that are wrong. */
  readonly wrong: readonly BirthPart[];
}

const LABELS = { day: 'birthDay', month: 'birthMonth', year: 'birthYearLabel' } as const;

/** Three fields: a picker takes forty years of clicks, and a single field leaves open which number is the month. */
export function BirthField({ typed, type, error, wrong }: BirthFieldProps) {
  const { facts, format } = usePage();
  return (
    <fieldset class="field birth" aria-describedby="birth-hint birth-error">
      <legend>{format('birthLabel')}</legend>
      <p class="hint" id="birth-hint">
        {format('birthHint', { age: facts.minimumAge })}
      </p>
      <div class="parts">
        {partsIn(facts.locale, navigator.language).map((part) => (
          <div key={part} class={part}>
            <label for={`birth-${part}`}>{format(LABELS[part])}</label>
            <input
              id={`birth-${part}`}
              name={`birth_${part}`}
              type="text"
              inputMode="numeric"
              autocomplete={`bday-${part}`}
              maxLength={part === 'month' ? 12 : 4}
              value={typed[part]}
              aria-invalid={wrong.includes(part)}
              aria-describedby="birth-error"
              onInput={({ currentTarget }) => type(part, currentTarget.value)}
            />
          </div>
        ))}
      </div>
      <p class="error" id="birth-error">
        {error}
      </p>
    </fieldset>
  );
}
