import { useState } from 'preact/hooks';
import { ageOn } from '../../src/contexts/onboarding/onboardings/decisions.js';
import type { Refusal, StepState } from './api.js';
import { birthOf, type BirthPart, type BirthTrouble, type TypedBirth } from './birth.js';
import { BirthField } from './birth-field.js';
import { Consent } from './consent.js';
import { useAct, useBack, usePage, type Page } from './page.js';
import {
  Alert,
  Field,
  Heading,
  Progress,
  SandboxNote,
  Submit,
  useFocusOnError,
  type InputAttributes,
} from './parts.js';
import { describeTrouble } from './messages.js';

/** The details as typed, kept only while the page is open. */
export interface TypedDetails {
  readonly first_name: string;
  readonly last_name: string;
  /** There is no last name. */
  readonly one_name: boolean;
  readonly birth: TypedBirth;
}
export const NOTHING_TYPED: TypedDetails = {
  first_name: '',
  last_name: '',
  one_name: false,
  birth: { day: '', month: '', year: '' },
};
const ALL_PARTS: readonly BirthPart[] = ['day', 'month', 'year'];

type Errors = { readonly [Key in 'first_name' | 'last_name' | 'birth' | 'consent']?: string };

interface DetailsProps {
  readonly typed: TypedDetails;
  readonly type: (change: (typed: TypedDetails) => TypedDetails) => void;
  readonly notice: string | null;
  readonly confirmed: (state: StepState) => void;
  /** Back to where the details were changed from. */
  readonly back: (() => void) | null;
}

export function Details({ typed, type, notice, confirmed, back }: DetailsProps) {
  const page = usePage();
  const { facts, api, format } = page;
  const [agrees, setAgrees] = useState(false);
  const [errors, setErrors] = useState<Errors>({});
  const [wrongParts, setWrongParts] = useState<readonly BirthPart[]>([]);
  const [trouble, setTrouble] = useState<string | null>(null);
  const form = useFocusOnError(errors);
  useBack(back !== null, () => back?.());
  const { busy, run } = useAct((refusal) => {
    const refused = refusedFields(page, refusal, typed.one_name);
    setErrors(refused);
    setWrongParts(ALL_PARTS);
    if ('consent' in refused) setAgrees(false);
    if (Object.keys(refused).length === 0) setTrouble(describeTrouble(format, facts.locale, refusal));
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    setTrouble(null);
    const born = birthOf(typed.birth, facts.locale, facts.today);
    const wrong = wrongFields(page, typed, born, agrees);
    setErrors(wrong);
    setWrongParts(typeof born === 'string' ? ALL_PARTS : born.parts);
    if (typeof born !== 'string' || Object.keys(wrong).length > 0) return;
    const { terms, privacy } = facts.consent;
    const versions = { terms_version: terms.version, privacy_version: privacy.version };
    const { first_name } = typed;
    const last_name = typed.one_name ? null : typed.last_name;
    const details = { first_name, last_name, date_of_birth: born, ...versions };
    run(async () => confirmed(await api.step('details', details)));
  };
  /** A browser that fills in the form changes several fields between two renderings. */
  const change = (
    name: Exclude<keyof TypedDetails, 'one_name'>,
    changed: (typed: TypedDetails) => Partial<TypedDetails>,
  ): void => {
    type((typed) => ({ ...typed, ...changed(typed) }));
    if (name in errors) setErrors(({ [name]: _, ...others }) => others);
  };
  const inputOf = (name: 'first_name' | 'last_name'): InputAttributes => ({
    value: typed[name],
    onInput: ({ currentTarget: { value } }) => change(name, () => ({ [name]: value })),
  });
  const { rejected = '', review = '', cardFails: card = '' } = facts.sandbox ?? {};
  return (
    <form noValidate onSubmit={submit} ref={form}>
      <Progress at={1} />
      <Heading>{format('detailsHeading')}</Heading>
      <p class="lead">{format('detailsLead')}</p>
      <Alert kind={trouble === null ? 'info' : 'bad'}>{trouble ?? notice}</Alert>
      <SandboxNote>{format('detailsSandbox', { rejected, review, card })}</SandboxNote>
      <div class="pair">
        <Field
          name="first_name"
          label={format(typed.one_name ? 'nameLabel' : 'firstNameLabel')}
          error={errors.first_name ?? ''}
          type="text"
          input={{
            autocomplete: typed.one_name ? 'name' : 'given-name',
            maxLength: 100,
            ...inputOf('first_name'),
          }}
        />
        {!typed.one_name && (
          <Field
            name="last_name"
            label={format('lastNameLabel')}
            error={errors.last_name ?? ''}
            type="text"
            input={{ autocomplete: 'family-name', maxLength: 100, ...inputOf('last_name') }}
          />
        )}
      </div>
      <div class="check one-name">
        <input
          type="checkbox"
          role="switch"
          id="one_name"
          name="one_name"
          checked={typed.one_name}
          onChange={({ currentTarget: { checked } }) => change('first_name', () => ({ one_name: checked }))}
        />
        <label for="one_name">{format('oneName')}</label>
      </div>
      <BirthField
        typed={typed.birth}
        type={(part, text) => change('birth', ({ birth }) => ({ birth: { ...birth, [part]: text } }))}
        error={errors.birth ?? ''}
        wrong={errors.birth === undefined ? [] : wrongParts}
      />
      {facts.email !== null && (
        <Field
          name="email"
          label={format('emailLabel')}
          hint={format('emailHint', { merchant: facts.merchantName })}
          error=""
          type="email"
          input={{ value: facts.email, readOnly: true }}
        />
      )}
      <Consent agrees={agrees} agree={setAgrees} error={agrees ? '' : (errors.consent ?? '')} />
      <Submit busy={busy}>{format('detailsSubmit')}</Submit>
    </form>
  );
}

/** Returns the fault of a name, whose letters may be of any script. */
function wrongName(name: string): 'Missing' | 'Letters' | null {
  if (name.trim() === '') return 'Missing';
  return /\p{L}/u.test(name) ? null : 'Letters';
}

function wrongFields(
  { facts, format }: Page,
  typed: TypedDetails,
  born: string | BirthTrouble,
  agrees: boolean,
): Errors {
  const { one_name } = typed;
  const [first, last] = [wrongName(typed.first_name), one_name ? null : wrongName(typed.last_name)];
  const isTooYoung = typeof born === 'string' && ageOn(facts.today, born) < facts.minimumAge;
  return {
    ...(first !== null && { first_name: format(`${one_name ? 'name' : 'firstName'}${first}`) }),
    ...(last !== null && { last_name: format(`lastName${last}`) }),
    ...(typeof born !== 'string' && { birth: format(born.trouble) }),
    ...(isTooYoung && { birth: format('birthTooYoung', { age: facts.minimumAge }) }),
    ...(!agrees && { consent: format('consentMissing') }),
  };
}

function refusedFields({ facts, format }: Page, { status, errors }: Refusal, oneName: boolean): Errors {
  if (status === 409)
    return 'terms_version' in errors || 'privacy_version' in errors
      ? { consent: format('consentChanged') }
      : {};
  return {
    ...('first_name' in errors && { first_name: format(oneName ? 'nameLetters' : 'firstNameLetters') }),
    ...('last_name' in errors && { last_name: format('lastNameLetters') }),
    ...('date_of_birth' in errors && { birth: format('birthTooYoung', { age: facts.minimumAge }) }),
  };
}
