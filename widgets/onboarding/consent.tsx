import { usePage } from './page.js';
import { rich } from './words.js';

interface ConsentProps {
  readonly agrees: boolean;
  readonly agree: (agrees: boolean) => void;
  readonly error: string;
}

/** The displayed versions are those sent to the server. */
export function Consent({ agrees, agree, error }: ConsentProps) {
  const { facts, say } = usePage();
  const { terms, privacy } = facts.consent;
  const link = (url: string, text: string) => (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {text}
      <span class="unseen"> ({say('opensTab')})</span>
    </a>
  );
  return (
    <div class="consent">
      <p class="small">{say('consentWhy', { merchant: facts.merchantName })}</p>
      <div class="check">
        <input
          type="checkbox"
          id="consent"
          checked={agrees}
          aria-invalid={error !== ''}
          aria-describedby="consent-versions consent-error"
          onChange={({ currentTarget }) => agree(currentTarget.checked)}
        />
        <label for="consent">
          {rich(say('consent'), {
            terms: link(terms.url, say('consentTerms')),
            privacy: link(privacy.url, say('consentPrivacy')),
          })}
        </label>
      </div>
      <p class="hint versions" id="consent-versions">
        {say('consentVersions', { terms: terms.version, privacy: privacy.version })}
      </p>
      <p class="error" id="consent-error">
        {error}
      </p>
    </div>
  );
}
