import type { FastifyInstance } from 'fastify';
import { localeOf } from '../../../../platform/http/pages/locale.js';
import { escapeHtml, layout } from '../../../../platform/http/pages/page.js';
import { PAGE_STYLE } from '../../../../platform/http/pages/page-style.js';
import { sendPage } from '../../../../platform/http/pages/page-server.js';
import { SANDBOX_PATHS } from '../../application/present-terms.js';
import { WORDS } from '../../words/words.js';

/** Pages of the sandbox that stand for the terms and the privacy notice. */
export function serveSandboxTerms(routes: FastifyInstance): void {
  for (const [each, heading] of [
    ['terms', 'sandboxTerms'],
    ['privacy', 'sandboxPrivacy'],
  ] as const) {
    routes.get(SANDBOX_PATHS[each], (request, reply) => {
      const locale = localeOf(request);
      const words = WORDS[locale];
      const main = `<main><h1>${escapeHtml(words[heading])}</h1><p>${escapeHtml(words.sandboxTermsText)}</p></main>`;
      reply.header('vary', 'accept-language');
      return sendPage(reply, [], (nonce) =>
        layout(words[heading], `<style nonce="${nonce}">${PAGE_STYLE}</style>`, main, locale),
      );
    });
  }
}
