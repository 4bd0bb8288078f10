import { useState } from 'preact/hooks';
import { ageOn } from '../../src/contexts/onboarding/domain/age.js';
import type { Refusal, StepState } from './api.js';
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
import { troubleWords } from './words.js';

/** As typed; kept while the page is open, and nowhere else. */
export interface TypedDetails {
  readonly first_name: string;
  readonly last_name: string;
  readonly date_of_birth: string;
}
export const NOTHING_TYPED: TypedDetails = { first_name: '', last_name: '', date_of_birth: '' };

type Name = keyof TypedDetails | 'consent';
type Errors = { readonly [Key in Name]?: string };

interface DetailsProps {
  readonly typed: TypedDetails;
  readonly type: (typed: TypedDetails) => void;
  readonly notice: string | null;
  readonly confirmed: (state: StepState) => void;
  /** Back to where the details were changed from. */
  readonly back: (() => void) | null;
}

export function Details({ typed, type, notice, confirmed, back }: DetailsProps) {
  const page = usePage();
  const { facts, api, say } = page;
  const [agrees, setAgrees] = useState(false);
  const [errors, setErrors] = useState<Errors>({});
  const [trouble, setTrouble] = useState<string | null>(null);
  const form = useFocusOnError(errors);
  useBack(back !== null, () => back?.());
  const { busy, run } = useAct((refusal) => {
    const refused = refusedFields(page, refusal);
    setErrors(refused);
    if ('consent' in refused) setAgrees(false);
    if (Object.keys(refused).length === 0) setTrouble(troubleWords(say, facts.locale, refusal));
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    setTrouble(null);
    const wrong = wrongFields(page, typed, agrees);
    setErrors(wrong);
    if (Object.keys(wrong).length > 0) return;
    const { terms, privacy } = facts.consent;
    const versions = { terms_version: terms.version, privacy_version: privacy.version };
    run(async () => confirmed(await api.step('details', { ...typed, ...versions })));
  };
  const inputOf = (name: keyof TypedDetails): InputAttributes => ({
    value: typed[name],
    onInput: ({ currentTarget }) => {
      type({ ...typed, [name]: currentTarget.value });
      if (name in errors) setErrors(({ [name]: _, ...others }) => others);
    },
  });
  const { rejected = '', review = '', cardFails: card = '' } = facts.sandbox ?? {};
  return (
    <form noValidate onSubmit={submit} ref={form}>
      <Progress at={1} />
      <Heading>{say('detailsHeading')}</Heading>
      <p class="lead">{say('detailsLead')}</p>
      <Alert kind={trouble === null ? 'info' : 'bad'}>{trouble ?? notice}</Alert>
      <SandboxNote>{say('detailsSandbox', { rejected, review, card })}</SandboxNote>
      <div class="pair">
        <Field
          name="first_name"
          label={say('firstNameLabel')}
          error={errors.first_name ?? ''}
          type="text"
          input={{ autocomplete: 'given-name', maxLength: 100, ...inputOf('first_name') }}
        />
        <Field
          name="last_name"
          label={say('lastNameLabel')}
          error={errors.last_name ?? ''}
          type="text"
          input={{ autocomplete: 'family-name', maxLength: 100, ...inputOf('last_name') }}
        />
      </div>
      <Field
        name="date_of_birth"
        label={say('birthLabel')}
        hint={say('birthHint', { age: facts.minimumAge })}
        error={errors.date_of_birth ?? ''}
        type="date"
        input={{
          ...{ autocomplete: 'bday', min: '1900-01-01', max: facts.today },
          ...inputOf('date_of_birth'),
        }}
      />
      {facts.email !== null && (
        <Field
          name="email"
          label={say('emailLabel')}
          hint={say('emailHint', { merchant: facts.merchantName })}
          error=""
          type="email"
          input={{ value: facts.email, readOnly: true }}
        />
      )}
      <Consent agrees={agrees} agree={setAgrees} error={agrees ? '' : (errors.consent ?? '')} />
      <Submit busy={busy}>{say('detailsSubmit')}</Submit>
    </form>
  );
}

function wrongFields({ facts, say }: Page, typed: TypedDetails, agrees: boolean): Errors {
  const { date_of_birth: born } = typed;
  const isDay = /^(19|20)\d{2}-\d{2}-\d{2}$/.test(born) && born < facts.today;
  const isTooYoung = isDay && ageOn(facts.today, born) < facts.minimumAge;
  return {
    ...(typed.first_name.trim() === '' && { first_name: say('firstNameMissing') }),
    ...(typed.last_name.trim() === '' && { last_name: say('lastNameMissing') }),
    ...(!isDay && { date_of_birth: say('birthMissing') }),
    ...(isTooYoung && { date_of_birth: say('birthTooYoung', { age: facts.minimumAge }) }),
    ...(!agrees && { consent: say('consentMissing') }),
  };
}

function refusedFields({ facts, say }: Page, { status, errors }: Refusal): Errors {
  if (status === 409)
    return 'terms_version' in errors || 'privacy_version' in errors ? { consent: say('consentChanged') } : {};
  return {
    ...('first_name' in errors && { first_name: say('firstNameMissing') }),
    ...('last_name' in errors && { last_name: say('lastNameMissing') }),
    ...('date_of_birth' in errors && { date_of_birth: say('birthTooYoung', { age: facts.minimumAge }) }),
  };
}
