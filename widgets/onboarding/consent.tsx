import { usePage } from './page.js';
import { rich } from './messages.js';

interface ConsentProps {
  readonly agrees: boolean;
  readonly agree: (agrees: boolean) => void;
  readonly error: string;
}

/** The displayed versions are those sent to the server. */
export function Consent({ agrees, agree, error }: ConsentProps) {
  const { facts, format } = usePage();
  const { terms, privacy } = facts.consent;
  const link = (url: string, text: string) => (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {text}
      <span class="unseen"> ({format('opensTab')})</span>
    </a>
  );
  return (
    <div class="consent">
      <p class="small">{format('consentWhy', { merchant: facts.merchantName })}</p>
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
          {rich(format('consent'), {
            terms: link(terms.url, format('consentTerms')),
            privacy: link(privacy.url, format('consentPrivacy')),
          })}
        </label>
      </div>
      <p class="hint versions" id="consent-versions">
        {format('consentVersions', { terms: terms.version, privacy: privacy.version })}
      </p>
      <p class="error" id="consent-error">
        {error}
      </p>
    </div>
  );
}
