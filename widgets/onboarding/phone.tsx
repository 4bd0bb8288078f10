import { useState } from 'preact/hooks';
import { useAct, usePage } from './page.js';
import { Alert, Field, Heading, Progress, Submit, useFocusOnError } from './parts.js';
import { sendCode, type CodeToEnter } from './send-code.js';
import { troubleWords } from './words.js';

interface PhoneProps {
  /** Why the person is here again. */
  readonly notice: string | null;
  readonly sent: (code: CodeToEnter) => void;
}

export function Phone({ notice, sent }: PhoneProps) {
  const { facts, api, say } = usePage();
  const [phone, setPhone] = useState(facts.phoneNumber);
  const [wrong, setWrong] = useState({ words: '' });
  const [trouble, setTrouble] = useState<string | null>(notice);
  const form = useFocusOnError(wrong);
  const { busy, run } = useAct((refusal) => {
    if ('phone_unreachable' in refusal.errors)
      setWrong({ words: say('phoneUnreachable', { merchant: facts.merchantName }) });
    else if ('phone_number' in refusal.errors)
      setWrong({ words: say('phoneOther', { merchant: facts.merchantName }) });
    else setTrouble(troubleWords(say, facts.locale, refusal));
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    setTrouble(null);
    if (phone.trim() === '') return setWrong({ words: say('phoneMissing') });
    setWrong({ words: '' });
    run(async () => sent(await sendCode(api, phone)));
  };
  return (
    <form noValidate onSubmit={submit} ref={form}>
      <Progress at={0} />
      <Heading>{say('phoneHeading')}</Heading>
      <p class="lead">{say('phoneLead', { merchant: facts.merchantName })}</p>
      <Alert>{trouble}</Alert>
      <Field
        name="phone_number"
        label={say('phoneLabel')}
        error={wrong.words}
        type="tel"
        input={{
          autocomplete: 'tel',
          value: phone,
          onInput: ({ currentTarget }) => setPhone(currentTarget.value),
        }}
      />
      <Submit busy={busy}>{say('phoneSubmit')}</Submit>
    </form>
  );
}
