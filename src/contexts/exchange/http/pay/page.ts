import { escapeHtml, layout, type Advice } from '../../../../platform/http/pages/page.js';
import type { PageAssets } from '../../../../platform/http/pages/assets.js';
import type { PayFacts } from './page-types.js';

/** The script builds the page out of the facts; what stands here is for those who run none, and until it is there. */
export function payPage(facts: PayFacts, { script, style }: PageAssets): string {
  const head = `<link rel="stylesheet" href="/widget/assets/${style}">
<script src="/widget/assets/${script}" defer></script>`;
  const { heading, text } =
    facts.session === null ? LINK_EXPIRED : { heading: 'Payment', text: 'One moment…' };
  return layout(
    'Pay',
    head,
    `<main data-facts="${escapeHtml(JSON.stringify(facts))}">
<h1>${escapeHtml(heading)}</h1>
<p class="lead">${escapeHtml(text)}</p>
<noscript><p>This page needs JavaScript. Please turn it on and load the page again.</p></noscript>
</main>`,
  );
}

const LINK_EXPIRED: Advice = {
  heading: 'This link has expired',
  text: 'Please go back to where you found it and open it again.',
};

/** What people are told who followed a link that leads nowhere; the words of the service stand below it in small print. */
export function adviceOn(status: number): Advice {
  if (status >= 500) return { heading: 'We are having trouble', text: 'Please try again in a moment.' };
  if (status === 429) return { heading: 'Too many requests', text: 'Please wait a minute and try again.' };
  return {
    heading: 'This link does not work',
    text: 'It is incomplete, was changed, or is no longer valid. Please go back to where you found it and open it again.',
  };
}
