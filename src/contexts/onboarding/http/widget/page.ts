import { SUSPENDED } from '../../../../platform/http/admission.js';
import type { PageAssets } from '../../../../platform/http/pages/assets.js';
import { escapeHtml, layout, type Advice } from '../../../../platform/http/pages/page.js';
import type { Problem } from '../../../../platform/http/problem.js';
import { WORDS, type Locale } from '../../words/words.js';
import type { OnboardingFacts } from './page-types.js';

/** The script builds the page out of the facts; what stands here is for those who run none, and until it is there. */
export function onboardingPage(facts: OnboardingFacts, { script, style }: PageAssets): string {
  const { words, locale } = facts;
  const head = `<link rel="stylesheet" href="/onboarding/assets/${style}">
<script src="/onboarding/assets/${script}" defer></script>`;
  const main = `<main data-facts="${escapeHtml(JSON.stringify(facts))}">
<h1>${escapeHtml(words.title)}</h1>
<p class="lead">${escapeHtml(words.loading)}</p>
<noscript><p>${escapeHtml(words.noScript)}</p></noscript>
</main>`;
  return layout(words.title, head, main, locale);
}

/** What people are told who followed a link; the words of the service stand below it in small print. */
export function adviceOn(problem: Problem, lang: Locale): Advice {
  const words = WORDS[lang];
  const { status } = problem;
  if (problem === SUSPENDED)
    return { lang, heading: words.refusedSuspended, text: words.refusedSuspendedText };
  if (status >= 500) return { lang, heading: words.refusedTrouble, text: words.refusedTroubleText };
  if (status === 429) return { lang, heading: words.refusedTooOften, text: words.refusedTooOftenText };
  if (status === 409) return { lang, heading: words.refusedClosing, text: words.refusedClosingText };
  return { lang, heading: words.refusedLink, text: words.refusedLinkText };
}
