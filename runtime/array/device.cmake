# Several programs at once on one array, with an interface in C (include/strata_array.h).
strata_library(strata_array_device
  SOURCES c_interface.cpp device.cpp placement.cpp
  LINK strata_array_files strata_array_instantiate strata_array_simulate)
