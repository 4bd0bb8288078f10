/** Words of questions that say nothing about what is searched. */
const STOP_WORDS = new Set(
  'a an and are as at be by can could do does for from get how i if in is it its me my of on or our should that the their this to was we what when where which who why will with you your'.split(
    ' ',
  ),
);

/** How much more a page counts than others, by the beginning of its path. */
const WEIGHTS = [
  [/^\/docs\/(quickstart|payouts|webhooks|onboarding|exchange|inbound-events|portal)/, 1.6],
  [/^\/docs\/reference\/(#|$)/, 1.6],
  [/^\/docs\/reference\/admin/, 0.4],
  [/^\/docs\/reference\//, 1],
  [/^\/docs\/(typescript|python|command-line)/, 1],
  [/^\/docs\/contract/, 0.7],
];
/** Of pages for operators, auditors and engineers. */
const OTHER_WEIGHT = 0.5;

/** Options of MiniSearch at the time of a search. */
export const searchOptions = {
  processTerm: (term) => (STOP_WORDS.has(term.toLowerCase()) ? null : term.toLowerCase()),
  prefix: (term) => term.length > 2,
  fuzzy: (term) => (term.length > 4 ? 0.2 : false),
  boostDocument: (id) => WEIGHTS.find(([pages]) => pages.test(id))?.[1] ?? OTHER_WEIGHT,
};
