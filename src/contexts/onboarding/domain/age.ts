/** Whole years between a day of birth (`YYYY-MM-DD`) and a moment (ISO 8601), by the calendar in UTC. */
export function ageOn(at: string, dateOfBirth: string): number {
  const years = Number(at.slice(0, 4)) - Number(dateOfBirth.slice(0, 4));
  // Who is born on 29 February is a year older on 1 March of other years.
  return at.slice(5, 10) < dateOfBirth.slice(5) ? years - 1 : years;
}
