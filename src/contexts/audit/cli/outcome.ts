/** Exit code when something is wrong. */
export const EXIT_WRONG = 2;
/** Exit code when nothing is wrong, and not everything could be checked. */
export const EXIT_INCOMPLETE = 1;
