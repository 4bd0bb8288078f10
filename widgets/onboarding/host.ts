import type { OnboardingFacts, PageStep, StepMessage } from './api.js';

/** Whether another page shows this one. */
export const EMBEDDED = window.parent !== window;

/** Tells the page around this one where the person is; only origins that may embed it ever hear of it. */
export function tellHost({ framers, userId }: OnboardingFacts, step: PageStep): void {
  if (!EMBEDDED) return;
  const message: StepMessage = { type: 'disburse.onboarding', version: 1, user_id: userId, step };
  for (const origin of hosts(framers)) window.parent.postMessage(message, origin);
}

function hosts(framers: OnboardingFacts['framers']): readonly string[] {
  // Firefox does not tell who embeds a page; then each that may is tried, and the browser delivers to the right one alone.
  const around = (location as { readonly ancestorOrigins?: DOMStringList }).ancestorOrigins?.[0];
  if (framers === null) return around === undefined || around === 'null' ? [] : [around];
  return around === undefined ? framers : framers.filter((origin) => origin === around);
}
