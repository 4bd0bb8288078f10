import { useState } from 'preact/hooks';
import { useAct, usePage } from './page.js';
import { Alert, Field, Heading, Progress, Submit, useFocusOnError } from './parts.js';
import { sendCode, type CodeToEnter } from './send-code.js';
import { describeTrouble } from './messages.js';

interface PhoneProps {
  /** The reason for the return to this step. */
  readonly notice: string | null;
  readonly sent: (code: CodeToEnter) => void;
}

export function Phone({ notice, sent }: PhoneProps) {
  const { facts, api, format } = usePage();
  const [phone, setPhone] = useState(facts.phoneNumber);
  const [wrong, setWrong] = useState({ text: '' });
  const [trouble, setTrouble] = useState<string | null>(notice);
  const form = useFocusOnError(wrong);
  const { busy, run } = useAct((refusal) => {
    if ('phone_unreachable' in refusal.errors)
      setWrong({ text: format('phoneUnreachable', { merchant: facts.merchantName }) });
    else if ('phone_number' in refusal.errors)
      setWrong({ text: format('phoneOther', { merchant: facts.merchantName }) });
    else setTrouble(describeTrouble(format, facts.locale, refusal));
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    setTrouble(null);
    if (phone.trim() === '') return setWrong({ text: format('phoneMissing') });
    setWrong({ text: '' });
    run(async () => sent(await sendCode(api, phone)));
  };
  return (
    <form noValidate onSubmit={submit} ref={form}>
      <Progress at={0} />
      <Heading>{format('phoneHeading')}</Heading>
      <p class="lead">{format('phoneLead', { merchant: facts.merchantName })}</p>
      <Alert>{trouble}</Alert>
      <Field
        name="phone_number"
        label={format('phoneLabel')}
        error={wrong.text}
        type="tel"
        {...(/^\s*[^+＋\s]/.test(phone) && { hint: format('phoneMissing') })}
        input={{
          autocomplete: 'tel',
          value: phone,
          onInput: ({ currentTarget }) => setPhone(currentTarget.value),
        }}
      />
      <Submit busy={busy}>{format('phoneSubmit')}</Submit>
    </form>
  );
}
