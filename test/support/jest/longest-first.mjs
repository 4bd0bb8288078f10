import Sequencer from '@jest/test-sequencer';

/** From those that take longest to the specs: what is begun last is waited for alone. */
const LONGEST_FIRST = [
  /chaos[a-z-]*\.e2e\.ts$/,
  /(-kill|pay-widget[a-z-]*|onboarding-(page|review)[a-z-]*|start|extending)\.(e2e|spec)\.ts$/,
  /\.e2e\.ts$/,
];

/** Within these by duration where it is known, as Jest does it. */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => [...LONGEST_FIRST, /./].findIndex((each) => each.test(path));
    return super.sort([...tests]).sort((a, b) => rank(a) - rank(b));
  }
}
