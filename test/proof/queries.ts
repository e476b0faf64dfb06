/** Q1: what a query answers is what its words mean, by a brute force that follows them on plain arrays. */
import { tryOne } from "../query/queries.js";
import { many, type Row } from "./row.js";

export const queries: Row = {
  id: "Q1",
  promise: "queries are exact",
  async run(scale) {
    const count = scale === "proof" ? 10_000 : 50;
    const broken: string[] = [];
    for (let seed = 1; seed <= count; seed++) {
      const wrong = await tryOne(seed);
      if (wrong !== undefined) broken.push(wrong);
    }
    return { tried: `${many(count)} queries on as many datasets`, broken };
  },
};
