import type { PageAssets } from '../../../../platform/http/pages/assets.js';
import type { Locale } from '../../../../platform/http/pages/locale.js';
import { escapeHtml, layout, type Advice } from '../../../../platform/http/pages/page.js';
import type { Problem } from '../../../../platform/http/problem.js';
import { WORDS } from '../../words/words.js';
import type { PayFacts } from './page-types.js';

/** The script builds the page out of the facts; this is for browsers that run none, and until it is there. */
export function payPage(facts: PayFacts, { script, style }: PageAssets): string {
  const { words, locale, session, merchant } = facts;
  const head = `<link rel="stylesheet" href="/widget/assets/${style}">
<script src="/widget/assets/${script}" defer></script>`;
  const heading = session === null ? words.expiredLink : words.title;
  const text =
    session === null ? words.expiredLinkText.replace('{merchant}', () => merchant.name) : words.loading;
  return layout(
    `${heading} · ${merchant.name}`,
    head,
    `<main data-facts="${escapeHtml(JSON.stringify(facts))}">
<h1>${escapeHtml(heading)}</h1>
<p class="lead">${escapeHtml(text)}</p>
<noscript><p>${escapeHtml(words.noScript)}</p></noscript>
</main>`,
    locale,
  );
}

/** What a person reads whose link does not work; the words of the service are below it in small print. */
export function adviceOn({ status }: Problem, lang: Locale): Advice {
  const words = WORDS[lang];
  if (status >= 500) return { lang, heading: words.refusedTrouble, text: words.refusedTroubleText };
  if (status === 429) return { lang, heading: words.refusedTooOften, text: words.refusedTooOftenText };
  return { lang, heading: words.refusedLink, text: words.refusedLinkText };
}
