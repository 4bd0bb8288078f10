import { createHash } from 'node:crypto';
import Sequencer from '@jest/test-sequencer';

/** The slowest suites come first, because the last suite to begin runs alone. */
const LONGEST_FIRST = [
  /chaos[a-z-]*\.e2e\.ts$/,
  /(-kill|pay-widget[a-z-]*|onboarding-(page|review)[a-z-]*|start|extending)(\.extended)?\.(e2e|spec)\.ts$/,
  /\.e2e\.ts$/,
];

/** Sorts each group by known duration. DISBURSE_TEST_ORDER is `reverse` or the seed of another order. */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => [...LONGEST_FIRST, /./].findIndex((each) => each.test(path));
    const sorted = super.sort([...tests]).sort((a, b) => rank(a) - rank(b));
    const order = process.env.DISBURSE_TEST_ORDER;
    if (order === undefined) return sorted;
    if (order === 'reverse') return sorted.reverse();
    const draw = ({ path }) => createHash('sha1').update(`${order}\n${path}`).digest('hex');
    return sorted.sort((a, b) => (draw(a) < draw(b) ? -1 : 1));
  }
}
